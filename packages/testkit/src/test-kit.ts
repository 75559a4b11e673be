// A system on virtual time, with probes, captured logs, and a check at the end that nothing leaked.

import {
  ActorSystem,
  type AnyRef,
  type AsyncDisposing,
  type Behavior,
  InvalidOption,
  type LedgerReport,
  type Logger,
  type Phase,
  type SystemOptions,
} from '@troupe/core'
import {
  type BehaviorNode,
  Cell,
  type CellHost,
  type CellOptions,
  checkFinite,
  checkObject,
  checkOneOf,
  checkString,
  type Dispatcher,
  type LocalRef,
  readOptions,
  systemTable,
  type Table,
  Tap,
} from '@troupe/core/internal'
import { show } from './compare.ts'
import { leaksOf } from './leaks.ts'
import { CloningCell, FreezingCell, type MessageGuard } from './message-guard.ts'
import { Probe, ProbeInbox } from './probe.ts'
import { seeded } from './random.ts'
import { macrotask, VirtualClock, VirtualRuntime } from './virtual-time.ts'

/** One line that the system or an actor logged. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** How a test kit is set up: the options of a system, and what is special to tests. */
export interface TestKitOptions extends SystemOptions {
  /** `'freeze'` makes writes to a sent message throw, `'clone'` hides them; `'share'` (default) does as production. */
  readonly messages?: MessageGuard | undefined
  /** Seeds jitter and whatever else the system draws; 1 if left out. */
  readonly seed?: number | undefined
}

/** A system on virtual time and the means to drive it. */
export interface TestKit extends AsyncDisposing {
  readonly system: ActorSystem
  readonly clock: VirtualClock
  /** Everything logged so far, oldest first. */
  readonly logs: readonly LogLine[]
  /** Runs everything due now, promise chains included. Fails where that never ends, and says who is busy. */
  settle(): Promise<void>
  /** Moves time by `ms`, stopping at every deadline on the way. */
  advance(ms: number): Promise<void>
  /**
   * What a promise is fulfilled with, such as the answer to a question: nothing moves in a kit while a test only waits, so this moves time, from deadline to deadline, until
   * it is settled. Rejects as the promise does; fails where it is not settled within `within` ms of virtual time, 60,000 if left out.
   */
  until<T>(promise: PromiseLike<T>, within?: number): Promise<T>
  /** An actor that keeps what it is told. */
  probe<M>(name?: string): Probe<M>
  /** Fails unless the actor gets into this phase within `within` ms of virtual time. */
  expectPhase(ref: AnyRef, phase: Phase, within?: number): Promise<void>
  /** Takes the first log line that holds this text (or all of these fields) away; fails if there is none. */
  expectLog(wanted: string | Readonly<Record<string, unknown>>): LogLine
  /** Fails unless every message sent so far is accounted for. */
  checkLedger(): Promise<LedgerReport>
  /** Fails if something is left of actors that ended or of questions that were settled. */
  checkLeaks(): void
  /** Shuts the system down and fails if the ledger does not add up or something was left behind. */
  end(): Promise<void>
  /** Ends as `end` does: for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Keeps track of every cell, and makes those that guard messages. */
class KitTap extends Tap {
  host: CellHost | undefined
  readonly #cells = new Set<Cell>()
  #sweepAt = 10_000
  readonly #guard: MessageGuard
  constructor(guard: MessageGuard) {
    super()
    this.#guard = guard
  }
  get cells(): Iterable<Cell> {
    return this.#cells
  }
  override attach(host: CellHost): void {
    this.host = host
  }
  override makeCell(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode): Cell {
    const Kind = this.#guard === 'freeze' ? FreezingCell : this.#guard === 'clone' ? CloningCell : Cell
    const cell = new Kind(ref, dispatcher, options, initial)
    // A million actors that came and went are no leak of the kit's: the dead are checked while they are among the last.
    if (this.#cells.size >= this.#sweepAt) {
      for (const old of this.#cells) if (old.phase === 'terminated') this.#cells.delete(old)
      this.#sweepAt = Math.max(10_000, this.#cells.size * 2)
    }
    return cell
  }
  override born(cell: Cell): void {
    this.#cells.add(cell)
  }
}

const table: Table<TestKitOptions> = {
  ...systemTable,
  messages: [checkOneOf, ['share', 'freeze', 'clone']],
  seed: [checkFinite, 'from'],
}

/**
 * A test kit. Time starts at 0 and moves only by `advance`; randomness is seeded. Needs no particular test runner.
 *
 * Guarantees: `advance` stops at every deadline on the way and runs what is due to quiescence, promise chains included.
 * Fails: `end` rejects if the ledger does not add up or if something was left behind.
 *
 * @example
 * const kit = createTestKit()
 * const probe = kit.probe<Tick>()
 * await kit.advance(50)
 * probe.expect({ type: 'tick' })
 * const total = await kit.until(ref.ask({ type: 'total' }))
 * await kit.end()
 */
export function createTestKit(options: TestKitOptions = {}): TestKit {
  const { messages = 'share', seed = 1, ...systemOptions } = readOptions('createTestKit', options, table)
  const clock = new VirtualClock()
  const tap = new KitTap(messages)
  const runtime = new VirtualRuntime(clock, seeded(seed), tap)
  const logs: LogLine[] = []
  const capture =
    (level: keyof Logger) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      logs.push({ level, message, fields })
    }
  // Phases are there to be looked at, and would bury what actors log.
  const isLevelEnabled = (level: string): boolean => level !== 'debug'
  const logger = { debug: capture('debug'), info: capture('info'), warn: capture('warn'), error: capture('error'), isLevelEnabled }
  const system = ActorSystem.create('test', { keepAlive: false, ...systemOptions, logger: systemOptions.logger ?? logger, runtime })

  const settle = async (): Promise<void> => {
    const { ledger } = tap.host!
    const limit = ledger.sent + mostSent
    const tooMuch = (): boolean => ledger.sent > limit
    for (let rounds = 0; rounds < mostRounds && !tooMuch(); rounds++) {
      runtime.pump(tooMuch)
      await macrotask()
      if (!runtime.pump(tooMuch)) return
    }
    await macrotask()
    const busy = [...tap.cells].filter((cell) => cell.queuedMessages > 0 || cell.extras?.pending !== undefined).map((cell) => cell.ref.path)
    throw new Error(
      `Does not settle: ever more is due at ${clock.now} ms. Busy: ${busy.slice(0, 5).join(', ') || 'nobody in sight'}. ` +
        `Does an actor tell itself again and again? Let it wait for a timer, or stop it before you settle.`,
    )
  }
  const advanceUntil = async (done: () => boolean, ms: number): Promise<boolean> => {
    checkFinite('ms', ms, 'from')
    const until = clock.now + ms
    await settle()
    for (let next = runtime.nextDeadline; !done() && next !== undefined && next <= until; next = runtime.nextDeadline) {
      clock.moveTo(next)
      await settle()
    }
    if (done()) return true
    clock.moveTo(until)
    await settle()
    return done()
  }
  const advance = async (ms: number): Promise<void> => void (await advanceUntil(never, ms))
  const until = async <T>(promise: PromiseLike<T>, within = 60_000): Promise<T> => {
    let settled = false
    const over = (): void => void (settled = true)
    try {
      promise.then(over, over)
    } catch (cause) {
      throw new InvalidOption('promise', promise, 'give what is waited for, such as ref.ask(…)', cause)
    }
    if (!(await advanceUntil(() => settled, within)))
      throw new Error(`Not settled within ${within} ms of virtual time; it is ${clock.now} ms now, and nothing more is due by then.`)
    return promise
  }
  const checkLedger = async (): Promise<LedgerReport> => {
    const ledger = await system.ledger()
    const { sent, ...rest } = ledger
    const sum = Object.values(rest).reduce((a, b) => a + b, 0)
    if (sent !== sum) throw new Error(`The ledger does not add up: ${sent} sent, ${sum} accounted for: ${JSON.stringify(ledger)}`)
    return ledger
  }
  const checkLeaks = (): void => {
    const found = leaksOf(tap.host!, tap.cells)
    if (found.length > 0) throw new Error(`Something was left behind: ${found.join('; ')}.`)
  }
  const subscriptions = (): number => (system.events as unknown as { readonly size: number }).size
  const end = async (): Promise<void> => {
    await settle()
    await checkLedger()
    checkLeaks()
    const ending = system.shutdown()
    await advance(60_000)
    await ending
    await checkLedger()
    const { active } = system.counts()
    if (active !== 0) throw new Error(`${active} actors are left after shutdown.`)
    checkLeaks()
    if (subscriptions() !== 0) throw new Error(`${subscriptions()} subscriptions are left after shutdown.`)
  }
  const expectPhase = async (ref: AnyRef, phase: Phase, within = 0): Promise<void> => {
    checkString('phase', phase)
    system.phaseOf(ref)
    if (await advanceUntil(() => system.phaseOf(ref) === phase, within)) return
    throw new Error(`Expected ${ref.path} to be ${phase} within ${within} ms, but it is ${system.phaseOf(ref)}.`)
  }
  const expectLog = (wanted: string | Readonly<Record<string, unknown>>): LogLine => {
    if (typeof wanted !== 'string') checkObject('wanted', wanted)
    const fits = (line: LogLine): boolean =>
      typeof wanted === 'string'
        ? line.message.includes(wanted)
        : Object.keys(wanted).every((k) => (line.fields as Record<string, unknown>)[k] === wanted[k])
    const at = logs.findIndex(fits)
    if (at < 0)
      throw new Error(`Expected a log line with ${show(wanted)}, but there are: ${logs.map((l) => `${l.level} ${l.message}`).join(' | ') || 'none'}.`)
    return logs.splice(at, 1)[0]!
  }
  const driver = { settle, advanceUntil, watch: (ref: AnyRef, watcher: AnyRef) => system.watch(ref, watcher) }
  return {
    system,
    clock,
    logs,
    settle,
    advance,
    until,
    expectPhase,
    expectLog,
    checkLedger,
    checkLeaks,
    end,
    [Symbol.asyncDispose]: end,
    probe: <M>(name?: string) => {
      const inbox = new ProbeInbox<M>()
      const behavior: Behavior<M> = inbox.behavior()
      return new Probe(system.spawn(behavior, name === undefined ? undefined : { name }), inbox, driver)
    },
  }
}

const never = (): boolean => false
/** More than an honest test does at one moment: messages that are sent meanwhile, and waits for promises. */
const mostSent = 4_000_000
const mostRounds = 200_000
