// What lives on each thread: a system of its own, connected to the others. It knows its ports and its loop, and nothing of the
// thread that it runs on, so that several may live in one process. It reports what it logs, what it buries and what it
// observes to the thread that started it.

import type { ActorSystem, ExecutionRuntime, LevelledLogger, Logger } from '@troupe/core'
import { coreOf, createOnThread, snapshotOf, type SystemCore } from '@troupe/core/internal'
import { answerCensus } from '../survey/census.ts'
import {
  besideOthers,
  type Control,
  Exchange,
  firstUid,
  followHosted,
  hostActors,
  HostedCell,
  type Load,
  loadExport,
  type Loop,
  type PlacementRequest,
  refuseTwice,
  spawnerFor,
} from '@troupe/border'
import { answerFinding } from '../survey/finding.ts'
import { answerLooks } from '../survey/lookout.ts'
import { berthOf, endOf } from '../wire/media.ts'
import type { BerthParts, Wiring } from '../wire/medium.ts'
import { recordedBy, type RecorderOrigin, type Recording } from './recording.ts'
import { PlaceReporter } from './place-reporter.ts'
import { Pulse } from './pulse.ts'
import type { Vitals } from '../wire/signs.ts'
import { Tally } from '../wire/tally.ts'
import { serveTasks } from './task-service.ts'

/** What a thread is started with. */
export interface ThreadData {
  readonly epoch: number
  readonly systemName: string
  readonly systemId: number
  readonly berth: BerthParts
  readonly main: Wiring
  /** Milliseconds without a sign of life until it counts as hung, where its actors do not say otherwise. */
  readonly hangAfter: number
  /** Whether it is the thread of one actor. */
  readonly pinned: boolean
  readonly spin: number
  readonly askTimeout: number
  /** Whether definitions are found by their names alone, for it runs a worker entry of the program. */
  readonly byName: boolean
  /** How what records its actors is made; undefined where the system records nothing, or only on the main thread. */
  readonly recorder: RecorderOrigin | undefined
}

/** What a place has of whatever it runs on. */
export interface PlaceHost {
  readonly loop: Loop
  /** What drives its system; the host's own if left out. */
  readonly runtime?: ExecutionRuntime | undefined
  /** Where it finds the code of its actors; the modules of the host if left out. */
  readonly load?: Load | undefined
  /** What it records with; nothing if left out. */
  readonly recording?: Recording | undefined
  /** Asks the main thread for a way to another. */
  connect(peer: number): void
  /** How busy and how late its loop was since the last time. */
  vitals(): Pick<Vitals, 'busy' | 'loopDelay'>
  /** It cannot go on: what the main thread says cannot be read. */
  fail(cause: unknown): void
}

export interface Place {
  readonly system: ActorSystem
  readonly exchange: Exchange
  /** Its end of a way to another thread has come. */
  wire(wiring: Wiring): void
}

const none: Recording = { recorder: undefined, why: 'actors on threads are not recorded' }

export function startPlace(data: ThreadData, host: PlaceHost): Place {
  const { load = loadExport, recording = none } = host
  const { bell, signs } = berthOf(data.berth)
  const toMain = (content: Control): void => exchange.tell(0, content)
  const { hangAfter, pinned } = data
  const pulse = new Pulse(signs, { hangAfter, pinned, byTurns: data.berth.kind === 'shared', loop: host.loop, now: () => core.runtime.now() })
  const reporter = new PlaceReporter(signs, pulse, toMain)
  const system = createOnThread(
    `${data.systemName}-${data.epoch}`,
    {
      askTimeout: data.askTimeout,
      logger: forwardingLogger(toMain),
      flightRecorder: recording.recorder,
      ...(host.runtime === undefined ? undefined : { runtime: host.runtime }),
    },
    reporter,
  )
  const core: SystemCore = coreOf(system)
  core.beginUids(firstUid(data.epoch))
  const placing = new Placing(toMain)
  const exchange: Exchange = new Exchange({
    epoch: data.epoch,
    core,
    loop: host.loop,
    bell,
    spin: data.spin,
    connect: (peer) => host.connect(peer),
    place: (request, uid) => placing.ask(request, uid),
    broken: (peer, cause) => {
      if (peer === 0) host.fail(cause)
      else toMain({ op: 'broken', epoch: peer, cause })
    },
    show: () => {
      signs.ledger(core.ledger)
      signs.counts(tally.counts)
    },
    makeMailbox: () => reporter.makeRing(),
  })
  const tally = new Tally(core, exchange.residents)
  core.id = data.systemId
  core.onIdle = () => signs.idle()
  hostActors(exchange, load)
  followHosted(exchange)
  exchange.on('listen', ({ on }) => void (reporter.listens = on))
  exchange.on('inspect', ({ id }) => toMain({ op: 'inspected', id, hosted: Array.from(exchange.residents.allHosted, (cell) => snapshotOf(cell)) }))
  answerLooks(exchange, toMain)
  exchange.on('record', ({ id, path }) => toMain({ op: 'recorded', id, text: recordedBy(recording, path) }))
  exchange.on('placed', ({ id, epoch, cause }) => placing.answered(id, epoch, cause))
  exchange.on('lost', ({ epoch, cause }, crossing) => {
    const { sent, received } = exchange.lose(epoch, cause)
    crossing.control({ op: 'lost.counts', epoch, sent, received })
  })
  core.otherPlaces = {
    died: (cell) => {
      pulse.left(cell)
      if (cell instanceof HostedCell) exchange.residents.hostedGone++
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
  const check = data.byName ? refuseTwice : undefined
  if (!pinned) core.dispatchers.fallback.spawner = besideOthers
  core.dispatchers.addRemote('parallel', spawnerFor(exchange, 'parallel', check))
  core.dispatchers.addRemote('pinned', spawnerFor(exchange, 'pinned', check))
  answerCensus(exchange, (id, part) => {
    signs.work(tally.work)
    toMain({ op: 'census.part', id, part })
  })
  serveTasks(exchange, load)
  answerFinding(exchange)
  exchange.open(data.main.peer, endOf(data.main))
  toMain({ op: 'up', epoch: data.epoch })
  // Shows that the loop turns, and how it does.
  pulse.start(() => {
    const { queued } = exchange.ledger()
    signs.vitals({ queued, ...host.vitals(), actors: exchange.residents.hostedCount })
    signs.ledger(core.ledger)
    signs.counts(tally.counts)
    signs.work(tally.work)
  })
  return { system, exchange, wire: (wiring) => exchange.open(wiring.peer, endOf(wiring)) }
}

/** Phases are told as observations, where they are wanted: the main thread logs them. */
function forwardingLogger(tell: (content: Control) => void): LevelledLogger {
  const forward =
    (level: keyof Logger) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void =>
      tell({ op: 'log', level, fields, message })
  return {
    debug: forward('debug'),
    info: forward('info'),
    warn: forward('warn'),
    error: forward('error'),
    isLevelEnabled: (level) => level !== 'debug',
  }
}

/** Asks the main thread, which knows the pool, where actors are to go. */
class Placing {
  readonly #tell: (content: Control) => void
  readonly #waiting = new Map<number, { resolve(epoch: number): void; reject(cause: unknown): void }>()
  #next = 0
  constructor(tell: (content: Control) => void) {
    this.#tell = tell
  }
  ask(request: PlacementRequest, uid: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const id = ++this.#next
      this.#waiting.set(id, { resolve, reject })
      this.#tell({ op: 'place', id, request, uid })
    })
  }
  answered(id: number, epoch: number | undefined, cause: unknown): void {
    const waiter = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (epoch === undefined) waiter?.reject(cause)
    else waiter?.resolve(epoch)
  }
}
