// What runs on each thread: a system of its own, connected to the others. It reports what it logs, what it buries and
// what it observes to the thread that started it.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { ActorSystem, type Logger, type Observation, type SystemOptions } from 'troupe'
import { type Cell, coreOf, type LocalRef, MessageRing, snapshotOf, typeOf } from 'troupe/internal'
import { answerCensus } from './census.ts'
import { firstUid } from './epochs.ts'
import { Exchange } from './exchange.ts'
import { answerFinding } from './finding.ts'
import { followHosted, hostActors, HostedCell } from './hosted.ts'
import { berthOf } from './media.ts'
import type { BerthParts, Wiring } from './medium.ts'
import type { PlacementRequest } from './placement.ts'
import { Pulse } from './pulse.ts'
import { besideOthers, spawnerFor } from './spawner.ts'
import { serveTasks } from './task-service.ts'

/** What a thread is started with. */
export interface ThreadData {
  readonly epoch: number
  readonly systemName: string
  readonly berth: BerthParts
  readonly main: Wiring
  readonly hangAfter: number
  /** Whether it is the thread of one actor. */
  readonly pinned: boolean
  readonly spin: number
  readonly askTimeout: number
}

const data = workerData as ThreadData
const port = parentPort!
const { bell, signs } = berthOf(data.berth)
const pulse = new Pulse(signs, { hangAfter: data.hangAfter, pinned: data.pinned, byTurns: data.berth.kind === 'shared' })

/** Says which message is taken, where it can be read if the thread never comes back from it. */
class NotingRing extends MessageRing {
  override shift(): unknown {
    const message = super.shift()
    if (message !== undefined) signs.message(typeOf(message))
    return message
  }
}

const system = ActorSystem.create(`${data.systemName}-${data.epoch}`, {
  askTimeout: data.askTimeout,
  logger: forwardingLogger(),
} satisfies SystemOptions)
const core = coreOf(system)
core.beginUids(firstUid(data.epoch))
const exchange = new Exchange(data.epoch, core, bell, data.spin, (peer) => port.postMessage({ connect: peer }))
exchange.makeMailbox = () => new NotingRing()
exchange.onRound = () => signs.ledger(core.ledger)
hostActors(exchange)
followHosted(exchange)
noteTurns()
reportLetters()
reportEvents()
answerInspection()
placeByMain()
core.federation = {
  died: (cell) => {
    pulse.left(cell)
    exchange.whereabouts.died(cell)
  },
  breathe: (drawn) => {
    exchange.flush()
    if (drawn !== undefined) pulse.breath(drawn)
  },
  ledger: (own) => Promise.resolve(own()),
  inspect: (own) => Promise.resolve(own),
  whenQuiet: (then) => then(),
  close: () => Promise.resolve(),
}
if (!data.pinned) core.dispatchers.fallback.spawner = besideOthers
core.dispatchers.addRemote('parallel', spawnerFor(exchange, 'parallel'))
core.dispatchers.addRemote('pinned', spawnerFor(exchange, 'pinned'))
answerCensus(exchange, (id, part) => exchange.channels.get(0)?.control({ op: 'census.part', id, part }))
serveTasks(exchange)
answerFinding(exchange)
exchange.on('lost', ({ epoch, cause }: { epoch: number; cause: unknown }, channel) => {
  const { sent, received } = exchange.lose(epoch, cause)
  channel.control({ op: 'lost.counts', epoch, sent, received })
})
port.on('message', (message: { readonly wiring?: Wiring; readonly lost?: number }) => {
  if (message.wiring !== undefined) exchange.wire(message.wiring)
})
exchange.wire(data.main)
exchange.channels.get(0)!.control({ op: 'up', epoch: data.epoch })
beat()

function toMain(content: { readonly op: string; readonly [field: string]: unknown }): void {
  exchange.channels.get(0)?.control(content)
}

function forwardingLogger(): Logger {
  const forward =
    (level: keyof Logger) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void =>
      toMain({ op: 'log', level, fields, message })
  return { debug: forward('debug'), info: forward('info'), warn: forward('warn'), error: forward('error') }
}

/** The dispatcher says whose turn it is by setting a field; here that is also shown to the watchdog. */
function noteTurns(): void {
  const dispatcher = core.dispatchers.fallback
  let current: Cell | undefined
  Object.defineProperty(dispatcher, 'current', {
    get: () => current,
    set: (cell: Cell | undefined) => {
      current = cell
      if (cell === undefined) pulse.between()
      else pulse.turn(cell)
    },
  })
  const spare: MessageRing[] = []
  dispatcher.takeRing = () => spare.pop() ?? new NotingRing()
  dispatcher.giveRing = (ring) => {
    if (spare.length < 64) spare.push(ring)
  }
}

function reportLetters(): void {
  const ring = core.deadLetters
  const add = ring.add.bind(ring)
  ring.add = (letter) => {
    add(letter)
    toMain({ op: 'letter', message: letter.message, sender: letter.sender, recipient: letter.recipient, reason: letter.reason })
  }
}

function reportEvents(): void {
  let wanted = false
  exchange.on('listen', ({ on }: { on: boolean }) => (wanted = on))
  Object.defineProperty(core, 'listening', { get: () => wanted || core.events.size > 0 })
  const observe = core.observe.bind(core)
  core.observe = (observation: Observation) => {
    observe(observation)
    // Dead letters go over anyway; of actors that stand on another thread that one tells.
    if (
      !wanted ||
      observation.type === 'message.dead' ||
      ('ref' in observation && observation.type.startsWith('actor.') && (observation.ref as LocalRef).cell instanceof HostedCell)
    )
      return
    toMain({ op: 'event', event: observation })
  }
}

function answerInspection(): void {
  exchange.on('inspect', ({ id }: { id: number }) => {
    const hosted = [...exchange.hosted.values()].map((cell) => snapshotOf(cell))
    toMain({ op: 'inspected', id, hosted })
  })
}

function placeByMain(): void {
  const waiting = new Map<number, { resolve(epoch: number): void; reject(cause: unknown): void }>()
  let next = 0
  exchange.place = (request: PlacementRequest, stub) =>
    new Promise((resolve, reject) => {
      const id = ++next
      waiting.set(id, { resolve, reject })
      toMain({ op: 'place', id, request, uid: stub.ref.uid })
    })
  exchange.on('placed', ({ id, epoch, cause }: { id: number; epoch: number; cause: unknown }) => {
    const waiter = waiting.get(id)
    waiting.delete(id)
    if (cause === undefined) waiter?.resolve(epoch)
    else waiter?.reject(cause)
  })
}

/** Shows that the loop turns, and how it does. */
function beat(): void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let before = performance.eventLoopUtilization()
  pulse.start(() => {
    const now = performance.eventLoopUtilization()
    const { queued } = exchange.ledger()
    signs.vitals({
      queued,
      busy: performance.eventLoopUtilization(now, before).utilization,
      loopDelay: Math.max(0, delay.max / 1e6 - 20),
      actors: exchange.hosted.size,
    })
    before = now
    delay.reset()
    signs.ledger(core.ledger)
  })
}
