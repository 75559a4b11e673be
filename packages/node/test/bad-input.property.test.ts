// Every public function of @troupe/node with wrong input in every place; what is accepted is spawned, which opens nothing
// that it should not, since addresses are of this machine and files do not exist. A new export without an entry fails.

import { PassThrough } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import * as n from '@troupe/node'
import { measured, ActorSystem, receive, same, type SystemOptions } from '@troupe/core'
import { type Entry, entry, holds, type Stage } from '../../core/test/wrong-input.ts'

type Anything = (...given: readonly unknown[]) => unknown
/** Calls it, and gives nothing back: whether what it made works is what the other tests of this folder are about. */
const call =
  (f: unknown): Entry['act'] =>
  (args) =>
    void (f as Anything)(...args)
const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error

const connection = { credits: 5, ack: 'handled', maxBuffered: 5, halfOpen: true, idleTimeout: 5, paused: true, linger: 5 }
const owned =
  (more: object) =>
  (stage: Stage): readonly unknown[] => [{ owner: stage.ref, ...more }]
const handler = (): unknown => receive(() => same)
const duplex = (): PassThrough => new PassThrough()

const functions: Record<string, Entry> = {
  'tcp.listen': entry(call(n.tcp.listen), owned({ ...connection, port: 0, host: 'x', path: 'x', backlog: 1, maxConnections: 1, handler, spawn: {} })),
  'tcp.connect': entry(call(n.tcp.connect), owned({ ...connection, port: 1, host: 'x', connectTimeout: 5 })),
  'tls.listen': entry(call(n.tls.listen), owned({ ...connection, port: 0, tls: {} })),
  'tls.connect': entry(call(n.tls.connect), owned({ ...connection, port: 1, tls: {} })),
  'http.serve': entry(
    call(n.http.serve),
    owned({
      port: 0,
      body: 'stream',
      maxBody: 1,
      responseTimeout: 5,
      requestTimeout: 5,
      maxRequests: 5,
      websocket: { handler, path: '/x', accept: () => true, acceptTimeout: 5 },
    }),
  ),
  'udp.bind': entry(call(n.udp.bind), owned({ port: 0, host: 'x', version: 4, credits: 5, maxBuffered: 5, linger: 5, reuseAddress: true })),
  'websocket.connect': entry(call(n.websocket.connect), (s) => [
    'ws://127.0.0.1:1',
    { owner: s.ref, headers: {}, connectTimeout: 5, maxMessage: 5, pingEvery: 5 },
  ]),
  'file.read': entry(call(n.file.read), (s) => ['x', { owner: s.ref, ...connection, start: 0, end: 5, chunkSize: 5 }]),
  'file.lines': entry(call(n.file.lines), (s) => ['x', { owner: s.ref, credits: 5, maxLength: 5 }]),
  'file.append': entry(call(n.file.append), (s) => ['x', { owner: s.ref, ...connection, mode: 0o600 }]),
  'file.watch': entry(call(n.file.watch), (s) => ['x', { owner: s.ref, recursive: false }]),
  // Not by a number that is a file descriptor: those of this process are the runner's.
  adopt: entry(
    (args) => void (n.adopt as Anything)(...args.map((arg, i) => (i === 0 && Number.isInteger(arg) ? -1 : arg))),
    (s) => [duplex(), { owner: s.ref, ...connection, interest: ['data'] }],
  ),
  childProcess: entry(call(n.childProcess), (s) => ['x', { owner: s.ref, args: ['x'], cwd: 'x', env: {}, credits: 5, maxBuffered: 5, killAfter: 5 }]),
  connectionSupervisor: entry(call(n.connectionSupervisor)),
  stdinLines: entry(call(n.stdinLines), owned({ credits: 5, maxLength: 5, input: duplex() })),
  osSignals: entry(call(n.osSignals), (s) => [{ signals: ['SIGUSR2'], owner: s.ref, shutdown: s.kit.system, deadline: 5 }]),
  lines: entry(call(n.lines), () => [{ maxLength: 5, encoding: 'utf8' }]),
  lengthPrefixed: entry(call(n.lengthPrefixed), () => [{ prefix: 4, maxLength: 5 }]),
  encodeLengthPrefixed: entry(call(n.encodeLengthPrefixed), () => [new Uint8Array(3), { prefix: 4 }]),
  respReplies: entry(call(n.respReplies), () => [{ maxBulk: 5, maxElements: 5, maxDepth: 5, maxLine: 5 }]),
  respRequests: entry(call(n.respRequests), () => [{ argument: () => 1, maxArguments: 5, maxBulk: 5, maxCommand: 5, maxInline: 5 }]),
  encodeRespRequest: entry(call(n.encodeRespRequest), () => [['SET', 'x', new Uint8Array(2)]]),
  defineActor: entry(call(n.defineActor), () => [import.meta.url, 'x', () => receive(() => same), { metrics: measured() }]),
  defineTask: entry(call(n.defineTask), () => ['x', () => 1]),
  transfer: entry(call(n.transfer), () => [{ type: 'x' }, []]),
}

const decoders: Record<string, () => n.Decoder<unknown>> = {
  lines: n.lines,
  lengthPrefixed: n.lengthPrefixed,
  respReplies: n.respReplies,
  respRequests: () => n.respRequests(),
}
for (const [name, make] of Object.entries(decoders))
  functions[`${name}().push`] = entry(
    (args) => void (make().push as Anything)(...args),
    () => [new Uint8Array(3)],
  )

/** Refused before a thread is started, or by what is there already: starting some for each input would take minutes. Silent: a task with a short timeout may cost a thread. */
const taken = (options?: SystemOptions): ActorSystem => ActorSystem.create('taken', { keepAlive: false, logger: false, ...options })
const system = taken()
const threads = n.threads(system, { size: 2 })
Object.assign(functions, {
  threadsOf: entry(call(n.threadsOf), () => [system]),
  threads: entry(call(n.threads), () => [
    system,
    {
      size: 2,
      hangAfter: 50,
      ringBytes: 4096,
      spin: 0,
      sharedMemory: true,
      worker: import.meta.url,
      resourceLimits: {},
      execArgv: [],
      keepAlive: true,
    },
  ]),
  'threads.runTask': entry(
    (args) => (threads.runTask as Anything)(...args),
    () => [import.meta.url, 'nothing', [], { timeout: 5, kill: false }],
    true,
  ),
  'threads.find': entry(
    (args) => (threads.find as Anything)(...args),
    () => ['/user/x'],
  ),
  'threads.terminate': entry(
    ([thread]) => threads.terminate(thread === 0 ? 7 : thread!),
    () => [7],
  ),
})

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries(functions)) test(name, () => holds(calls))
})

test('there is an entry for every export', () => {
  const named = (name: string, value: unknown): string[] =>
    typeof value === 'object' ? Object.keys(value as object).map((method) => `${name}.${method}`) : [name]
  const names = Object.entries(n).flatMap(([name, value]) => (isError(value) ? [] : named(name, value)))
  expect(names.filter((name) => !(name in functions))).toEqual([])
})

afterAll(() => system.shutdown())
