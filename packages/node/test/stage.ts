// A system with threads for one test: what actors report can be waited for, bounded in time; at the end the ledger of
// all threads must add up and nothing may be left.

import { afterAll, afterEach } from 'vitest'
import { type ActorRef, ActorSystem, type Logger, receive, same, type SpawnOptions, type SystemOptions } from '@troupe/core'
import { threads, type Threads, type ThreadsOptions } from '@troupe/node'
import { type Report, type Script, subject, type Subject } from '../dist-test/subject.js'

export interface Line {
  readonly level: keyof Logger
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** What threads are set up with unless a test says otherwise; changed by `ports.test.ts`, which runs the same tests again. */
export const stageDefaults: { sharedMemory: boolean | undefined } = { sharedMemory: undefined }

/** How long a test waits for something that must come: longer than a busy machine ever keeps it. */
export const patience = 30_000

export interface StageOptions extends ThreadsOptions {
  readonly system?: SystemOptions
  /** For actors of this thread alone: then no other is started. */
  readonly threadless?: boolean
}

export class Stage {
  readonly system: ActorSystem
  readonly threads: Threads
  readonly reports: Report[] = []
  readonly logs: Line[] = []
  readonly report: ActorRef<Report>
  #waiting: (() => void)[] = []

  constructor(options: StageOptions = {}) {
    const log =
      (level: keyof Logger) =>
      (fields: Readonly<Record<string, unknown>>, message: string): void => {
        this.logs.push({ level, fields, message })
        this.#wake()
      }
    const { system, threadless = false, ...rest } = options
    this.system = ActorSystem.create('stage', {
      // A question that is answered late on a busy machine is no failure; what is to time out says when.
      askTimeout: patience,
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error'), isLevelEnabled: (level) => level !== 'debug' },
      ...system,
    })
    this.threads = threadless ? (undefined as never) : threads(this.system, { size: 2, ...stageDefaults, ...rest })
    this.report = this.system.spawn(
      receive<Report>((_ctx, report) => {
        this.reports.push(report)
        this.#wake()
        return same
      }),
      { name: 'reporter' },
    )
  }
  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  subject(options: SpawnOptions & { readonly script?: Partial<Script> }): ActorRef<Subject> {
    const { script, ...rest } = options
    return this.system.spawn(subject({ report: this.report, ...script }), rest)
  }

  /** What was reported so far, as words; of one actor if named. */
  heard(name?: string): string[] {
    return this.reports
      .filter((r) => name === undefined || r.who === `/user/${name}`)
      .map((r) => (r.value === undefined ? r.what : `${r.what} ${text(r.value)}`))
  }
  /** Waits until something is so. */
  async until(what: string, is: () => boolean): Promise<void> {
    const end = performance.now() + patience
    while (!is()) {
      if (performance.now() > end)
        throw new Error(`Never came about: ${what}. Heard: ${this.heard().join(', ')}. Logged: ${this.logs.map((l) => l.message).join('; ')}`)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        setTimeout(resolve, 20)
      })
    }
  }
  async hears(what: string, times = 1): Promise<void> {
    await this.until(`${times} × ${what}`, () => this.heard().filter((h) => h === what).length >= times)
  }

  /** An actor of this thread that holds whoever asks it until it is let go: the asker is at work for as long as a test needs. */
  gate(): { readonly ref: ActorRef<Subject>; readonly reached: Promise<void>; open(): void } {
    let open = (): void => {}
    let reached = (): void => {}
    const ref = this.system.spawn(
      receive<Subject>((_ctx, m) => {
        if (m.type !== 'echo') return same
        open = () => m.replyTo.tell(m.value)
        reached()
        return same
      }),
    )
    return { ref, reached: new Promise((resolve) => (reached = resolve)), open: () => open() }
  }

  async checkLedger(): Promise<Awaited<ReturnType<ActorSystem['ledger']>>> {
    const ledger = await this.system.ledger()
    const { sent, ...rest } = ledger
    const sum = Object.values(rest).reduce((a, b) => a + b, 0)
    if (sum !== sent) throw new Error(`The ledger does not add up: ${sent} sent, ${sum} accounted for: ${JSON.stringify(ledger)}`)
    return ledger
  }
  async end(): Promise<void> {
    await this.checkLedger()
    await this.system.shutdown({ deadline: 5000 })
    await this.checkLedger()
    const { active } = this.system.counts()
    if (active !== 0) throw new Error(`${active} actors are left after shutdown.`)
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * Makes stages that end with their test, whatever became of it, or where tests run beside each other with the last of them. To be called
 * once, at the top of a file of tests.
 */
export function stagesOfTests(concurrent = false): (...args: ConstructorParameters<typeof Stage>) => Stage {
  const stages: Stage[] = []
  ;(concurrent ? afterAll : afterEach)(async () => {
    for (const made of stages.splice(0)) await made.system.shutdown({ deadline: 2000 })
  })
  return (...args) => {
    const made = new Stage(...args)
    stages.push(made)
    return made
  }
}
