// A system on virtual time, with probes, captured logs, and a check at the end that nothing leaked.

import { ActorSystem, type LedgerReport, type Logger, type SystemOptions } from 'troupe'
import { Probe, probeBehavior } from './probe.ts'
import { macrotask, VirtualClock, VirtualRuntime } from './virtual-time.ts'

/** One line that the system or an actor logged. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A system on virtual time and the means to drive it. */
export interface TestKit {
  readonly system: ActorSystem
  readonly clock: VirtualClock
  readonly logs: readonly LogLine[]
  /** Runs everything due now, promise chains included. */
  settle(): Promise<void>
  /** Moves time by `ms`, stopping at every deadline on the way. */
  advance(ms: number): Promise<void>
  /** An actor that keeps what it is told. */
  probe<M>(name?: string): Probe<M>
  /** Fails unless every message sent so far is accounted for. */
  checkLedger(): Promise<LedgerReport>
  /** Shuts the system down and fails if the ledger does not add up or something was left behind. */
  end(): Promise<void>
}

/**
 * A test kit. Time starts at 0 and moves only by `advance`; randomness is seeded.
 *
 * @example
 * const kit = createTestKit()
 * const probe = kit.probe<Tick>()
 * await kit.advance(50)
 * probe.expect({ type: 'tick' })
 * await kit.end()
 */
export function createTestKit(options: SystemOptions = {}): TestKit {
  const clock = new VirtualClock()
  const runtime = new VirtualRuntime(clock, seeded(1))
  const logs: LogLine[] = []
  const capture =
    (level: keyof Logger) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      logs.push({ level, message, fields })
    }
  const logger: Logger = { debug: capture('debug'), info: capture('info'), warn: capture('warn'), error: capture('error') }
  const system = ActorSystem.create('test', { logger, keepAlive: false, ...options, runtime })

  const settle = async (): Promise<void> => {
    for (;;) {
      runtime.pump()
      await macrotask()
      if (!runtime.pump()) return
    }
  }
  const advance = async (ms: number): Promise<void> => {
    const until = clock.now + ms
    await settle()
    for (let next = runtime.nextDeadline; next !== undefined && next <= until; next = runtime.nextDeadline) {
      clock.moveTo(next)
      await settle()
    }
    clock.moveTo(until)
    await settle()
  }
  const checkLedger = async (): Promise<LedgerReport> => {
    const ledger = await system.ledger()
    const { sent, ...rest } = ledger
    const sum = Object.values(rest).reduce((a, b) => a + b, 0)
    if (sent !== sum) throw new Error(`The ledger does not add up: ${sent} sent, ${sum} accounted for: ${JSON.stringify(ledger)}`)
    return ledger
  }
  const end = async (): Promise<void> => {
    await settle()
    await checkLedger()
    const ending = system.shutdown()
    await advance(60_000)
    await ending
    await checkLedger()
    const { active } = system.counts()
    if (active !== 0) throw new Error(`${active} actors are left after shutdown.`)
  }
  return {
    system,
    clock,
    logs,
    settle,
    advance,
    checkLedger,
    end,
    probe: <M>(name?: string) => {
      const messages: M[] = []
      const ref = system.spawn(probeBehavior(messages), name === undefined ? undefined : { name })
      return new Probe(ref, messages)
    },
  }
}

/** A small seeded generator (mulberry32): the same seed, the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
