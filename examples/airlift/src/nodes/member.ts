// The process of one node, which is killed. It has the districts that are its share, tells the tower over its channel what its drones do, and ends
// when it is told to, when the tower is gone, or when its session has ended: then it knows nothing that the journal does not know.

import type { ActorRef, LedgerReport } from '@troupe/core'
import { observe } from '@troupe/observer'
import { auditLog, type Line, logMailbox } from '../audit-log.ts'
import { district, type Switches } from '../district.ts'
import type { Drone } from '../drone.ts'
import { rowsFrame } from '../feed.ts'
import { Meter, type MeterReading } from '../meter.ts'
import type { Planner } from '../planner.ts'
import { startPlanners } from '../planners.ts'
import { Sky } from '../sky.ts'
import { seeded, type World } from '../world.ts'
import { join, type Joining } from './joining.ts'

/** What it is told when it starts. */
export interface Orders extends Joining {
  readonly world: World
  readonly threads: number
  readonly switches: Switches
}
/** What it is told later. */
export type Order = { readonly type: 'switches'; readonly switches: Switches } | { readonly type: 'hang' } | { readonly type: 'stop' }

/** What it tells. */
export type News =
  | { readonly type: 'joined'; readonly observer: string }
  | { readonly type: 'rows'; readonly frame: Uint8Array }
  | {
      readonly type: 'measured'
      readonly meter: MeterReading
      readonly ledger: LedgerReport
      readonly askPlanner: number
      readonly lines: readonly Line[]
    }
  | { readonly type: 'stopped'; readonly stopped: number; readonly killed: number }
  | { readonly type: 'failed'; readonly why: string }

const { world, threads, switches: given, ...joining } = JSON.parse(process.argv[2]!) as Orders
const tell = (news: News, then: () => void = () => {}): void => {
  if (process.connected) process.send!(news, then)
  else then()
}
// Ctrl-C in a terminal reaches all processes; the tower says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
let stop = (): void => process.exit(0)
process.on('disconnect', () => stop())
const fail = (cause: unknown): void => tell({ type: 'failed', why: (cause as Error).message }, () => process.exit(1))

const switches: Switches = { ...given }
const sky = new Sky(world)
const lines: Line[] = []
const now = (): number => Date.now()
const rowsEvery = 50

async function fly(): Promise<void> {
  let planners!: ActorRef<Planner>
  const drones: (ActorRef<Drone> | undefined)[] = []
  const { system, cluster } = await join(joining, (made, depotOf) => {
    const log = made.spawn(auditLog(lines), { name: 'audit-log', mailbox: logMailbox })
    planners = startPlanners(made, world.seed, threads)
    return (id) => {
      const number = Number(id)
      const random = seeded(world.seed * 1009 + number + now())
      const found = { depots: new Map(), drones }
      return district({ number, sky, switches, random, now, planners, log, found, books: depotOf(id), audited: () => {} })
    }
  })
  const meter = new Meter(system)
  const observer = observe(system)
  const page = await observer.openPage()
  let stopping = false
  const end = async (): Promise<void> => {
    stopping = true
    for (const timer of timers) clearInterval(timer)
    await observer.close()
    // Nobody is left to hand anything to: the journal has it all.
    const { stopped, killed } = await system.shutdown({ drain: 2000, deadline: 6000 })
    tell({ type: 'stopped', stopped, killed: killed.length }, () => process.exit(0))
  }
  let askPlanner = 0
  const measure = async (): Promise<void> => {
    const began = performance.now()
    const done = (): void => void (askPlanner = performance.now() - began)
    planners.ask({ type: 'ping' }, { timeout: 10_000 }).then(done, done)
    const ledger = await system.ledger()
    tell({ type: 'measured', meter: meter.read(), ledger, askPlanner, lines: lines.splice(0) })
  }
  const changed = sky.look()
  changed.take()
  const show = (): void => {
    const rows = changed.take()
    if (rows.length > 0) tell({ type: 'rows', frame: rowsFrame(sky, rows, now()) })
  }
  const timers = [setInterval(() => void measure().catch(() => {}), 1000), setInterval(show, rowsEvery)]
  process.on('message', (order: Order) => {
    if (order.type === 'switches') Object.assign(switches, order.switches)
    else if (order.type === 'hang') planners.tell({ type: 'hang' })
  })
  stop = () => {
    stop = () => {}
    void end().catch(fail)
  }
  void cluster.ended.then((cause) => cause !== undefined && !stopping && fail(cause))
  tell({ type: 'joined', observer: page.url })
}

process.on('message', (order: Order) => order.type === 'stop' && stop())
fly().catch(fail)
