// Options of I/O and threads that are none, misspelt or of the wrong kind: refused by name, before anything is opened.

import {
  adopt,
  childProcess,
  defineActor,
  defineTask,
  encodeLengthPrefixed,
  encodeRespRequest,
  file,
  http,
  lengthPrefixed,
  lines,
  osSignals,
  respReplies,
  respRequests,
  stdinLines,
  tcp,
  threads,
  tls,
  transfer,
  udp,
  websocket,
} from '@troupe/node'
import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { receive, same } from '@troupe/core'
import { pair } from './stream-pair.ts'

const error = (code: string, text: string): unknown => expect.objectContaining({ code, message: expect.stringContaining(text) })
const odd = (value: unknown): never => value as never
const kit = createTestKit()
const owner: never = odd(kit.system.spawn(receive<unknown>(() => same)))
const handler = (): never => odd(receive(() => same))
const at = 'ws://127.0.0.1:1'

describe('a misspelt option is refused, with what was probably meant', () => {
  const rows: [string, () => unknown, string, string][] = [
    ['tcp.listen', () => tcp.listen(odd({ prot: 0, owner })), 'prot', 'port'],
    ['tcp.connect', () => tcp.connect(odd({ port: 1, ownr: owner })), 'ownr', 'owner'],
    ['tls.listen', () => tls.listen(odd({ port: 0, owner, tsl: {} })), 'tsl', 'tls'],
    ['a listener’s spawn', () => tcp.listen({ port: 0, owner, spawn: odd({ stopTimout: 1 }) }), 'spawn.stopTimout', 'stopTimeout'],
    ['http.serve', () => http.serve(odd({ owner, maxbody: 5 })), 'maxbody', 'maxBody'],
    ['http.serve’s websocket', () => http.serve({ owner, websocket: odd({ owner, pth: 5 }) }), 'pth', 'path'],
    ['udp.bind', () => udp.bind(odd({ owner, reuseAdress: true })), 'reuseAdress', 'reuseAddress'],
    ['childProcess', () => childProcess('ls', odd({ owner, arg: [] })), 'arg', 'args'],
    ['file.read', () => file.read('x', odd({ owner, chunksize: 1 })), 'chunksize', 'chunkSize'],
    ['file.append', () => file.append('x', odd({ owner, lingr: 1 })), 'lingr', 'linger'],
    ['file.lines', () => file.lines('x', odd({ owner, maxLenght: 1 })), 'maxLenght', 'maxLength'],
    ['file.watch', () => file.watch('x', odd({ owner, recurse: true })), 'recurse', 'recursive'],
    ['stdinLines', () => stdinLines(odd({ owner, credit: 1 })), 'credit', 'credits'],
    ['osSignals', () => osSignals(odd({ signal: [] })), 'signal', 'signals'],
    ['websocket.connect', () => websocket.connect(at, odd({ owner, header: {} })), 'header', 'headers'],
    ['adopt', () => adopt(pair().near, odd({ owner, interests: [] })), 'interests', 'interest'],
    ['lines', () => lines(odd({ maxlength: 1 })), 'maxlength', 'maxLength'],
    ['lengthPrefixed', () => lengthPrefixed(odd({ prefx: 1 })), 'prefx', 'prefix'],
    ['encodeLengthPrefixed', () => encodeLengthPrefixed(new Uint8Array(1), odd({ prefx: 1 })), 'prefx', 'prefix'],
    ['respReplies', () => respReplies(odd({ maxBulks: 1 })), 'maxBulks', 'maxBulk'],
    ['respRequests', () => respRequests(odd({ maxArgument: 1 })), 'maxArgument', 'maxArguments'],
    ['threads', () => threads(kit.system, odd({ sise: 2 })), 'sise', 'size'],
  ]
  for (const [name, act, option, meant] of rows)
    test(name, () => {
      expect(act).toThrow(error('invalid-option', `Option ${option} is`))
      if (name !== 'file.watch') expect(act).toThrow(error('invalid-option', `did you mean \`${meant}\`?`))
      expect(act).toThrow(error('invalid-option', meant))
    })
})

describe('what is no object, or of the wrong kind, is refused, and not with a TypeError', () => {
  const rows: [string, () => unknown, string][] = [
    ['http.serve(null)', () => http.serve(odd(null)), 'options'],
    ['tcp.listen(null)', () => tcp.listen(odd(null)), 'options'],
    ['tcp.connect(7)', () => tcp.connect(odd(7)), 'options'],
    ['udp.bind(null)', () => udp.bind(odd(null)), 'options'],
    ['osSignals(null)', () => osSignals(odd(null)), 'options'],
    ['osSignals that nobody hears', () => osSignals({}), 'owner'],
    ['stdinLines(null)', () => stdinLines(odd(null)), 'options'],
    ['file.read(5)', () => file.read(odd(5), { owner }), 'path'],
    ['file.read(…, null)', () => file.read('x', odd(null)), 'options'],
    ['childProcess(null)', () => childProcess(odd(null), { owner }), 'command'],
    ['childProcess with args: 5', () => childProcess('ls', { owner, args: odd(5) }), 'args'],
    ['childProcess with args: [5]', () => childProcess('ls', { owner, args: [odd(5)] }), 'args[0]'],
    ['websocket.connect(5)', () => websocket.connect(odd(5), { owner }), 'url'],
    ['adopt(null)', () => adopt(odd(null), { owner }), 'stream'],
    ['adopt(…, null)', () => adopt(pair().near, odd(null)), 'options'],
    ['adopt with an interest that is a text', () => adopt(pair().near, { owner, interest: odd('data') }), 'interest'],
    ['adopt with an interest that nobody knows', () => adopt(pair().near, { owner, interest: ['data', odd('close')] }), 'interest[1]'],
    ['lines with an encoding of nothing', () => lines({ encoding: odd('utf9') }), 'encoding'],
    ['lines().push(null)', () => lines().push(odd(null)), 'chunk'],
    ['encodeLengthPrefixed(null)', () => encodeLengthPrefixed(odd(null)), 'payload'],
    ['encodeRespRequest(null)', () => encodeRespRequest(odd(null)), 'args'],
    ['encodeRespRequest([5])', () => encodeRespRequest([odd(5)]), 'args'],
    ['respRequests(null)', () => respRequests(odd(null)), 'options'],
    ['threads(null)', () => threads(odd(null)), 'system'],
    ['threads(system, null)', () => threads(kit.system, odd(null)), 'options'],
    ['threads with a spin of text', () => threads(kit.system, { spin: odd('fast') }), 'spin'],
    ['threads by the billion', () => threads(kit.system, { size: 1e9 }), 'size'],
    ['threads with rings of no power of two', () => threads(kit.system, { ringBytes: 5000 }), 'ringBytes'],
    ['threads with rings larger than their positions', () => threads(kit.system, { ringBytes: 2 ** 50 }), 'ringBytes'],
    ['threads with a worker that is no file', () => threads(kit.system, { worker: odd(7) }), 'worker'],
    ['defineTask of nothing', () => defineTask('x', odd(null)), 'task'],
    ['defineTask without a name', () => defineTask('', () => 1), 'name'],
    ['transfer(5)', () => transfer(odd(5), []), 'message'],
    ['transfer(…, null)', () => transfer({}, odd(null)), 'list'],
    ['defineActor of nothing', () => defineActor(import.meta.url, 'x', odd(null)), 'actor'],
    ['defineActor without a name', () => defineActor(import.meta.url, odd(null), () => odd(null)), 'name'],
  ]
  for (const [name, act, option] of rows)
    test(name, () => {
      expect(act).toThrow(error('invalid-option', `Option ${option} is`))
    })
})

test('a listener that nobody hears of is refused, by the compiler and when it runs', () => {
  // @ts-expect-error neither an owner nor a handler
  expect(() => tcp.listen({ port: 0 })).toThrow(error('invalid-option', 'owner and handler'))
  // @ts-expect-error neither an owner nor a handler
  expect(() => tls.listen({ port: 0, tls: {} })).toThrow(error('invalid-option', 'owner and handler'))
  tcp.listen({ port: 0, owner })
  tcp.listen({ port: 0, handler })
  tcp.listen({ port: 0, owner, handler })
})

test('the kit is left as it was', () => kit.end())
