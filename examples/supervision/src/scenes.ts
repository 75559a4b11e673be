// The scenes: for each strategy the tree before, a crash, what was stopped and started, and the tree after. Knows no
// terminal and no clock: whoever plays it says where text goes and how to let the dust settle.

import { type ActorRef, type ActorSystem, formatTree, type Strategy, supervisorClient, type SupervisorMessage } from '@troupe/core'
import { branches, type Order, shop, visitor, visitors } from './shop.ts'

export interface Stage {
  /** Shows a title, a tree or a line. */
  readonly show: (text: string) => void
  /** Resolves once everything that follows from what was done has happened. */
  readonly settle: () => Promise<void>
}

const strategies: readonly Exclude<Strategy, 'simple-one-for-one'>[] = ['one-for-one', 'all-for-one', 'rest-for-one', 'dependents']

export async function playAll(system: ActorSystem, stage: Stage): Promise<void> {
  for (const strategy of strategies) await playStrategy(system, stage, strategy)
  await playVisitors(system, stage)
  await playGivingUp(system, stage)
}

async function playStrategy(system: ActorSystem, stage: Stage, strategy: (typeof strategies)[number]): Promise<void> {
  const heard: string[] = []
  const ref = system.spawn(
    shop(strategy, (line) => void heard.push(line)),
    { name: 'shop' },
  )
  stage.show(`# ${strategy}: db crashes`)
  await crash(system, stage, ref, `${ref.path}/db`, heard)
  await end(system, stage, ref)
}

async function playVisitors(system: ActorSystem, stage: Stage): Promise<void> {
  const heard: string[] = []
  const ref = system.spawn(visitors(), { name: 'visitors' })
  const client = supervisorClient(ref)
  const starts = ['ann', 'bob', 'cid'].map((name) => client.startChild(visitor.with(name, (line) => void heard.push(line))))
  await stage.settle()
  const refs = await Promise.all(starts)
  stage.show('# simple-one-for-one: the second visitor crashes')
  await crash(system, stage, ref, refs[1]!.path, heard)
  await end(system, stage, ref)
}

async function playGivingUp(system: ActorSystem, stage: Stage): Promise<void> {
  const heard: string[] = []
  const ref = system.spawn(
    branches((line) => void heard.push(line)),
    { name: 'shop', supervision: 'stop' },
  )
  stage.show('# giving up: storage may not restart anything, so its supervisor restarts storage, and the rest')
  await crash(system, stage, ref, `${ref.path}/storage/db`, heard)
  stage.show('# and once more: now the shop gives up as well')
  const ended = system.whenTerminated(ref)
  ;(system.find(`${ref.path}/storage/db`) as ActorRef<Order>).tell('crash')
  await stage.settle()
  stage.show(`  ${heard.splice(0).join(' ')}`)
  for (let cause = (await ended).cause as Error | undefined; cause !== undefined; cause = cause.cause as Error | undefined)
    stage.show(`  ${cause.message}`)
}

async function crash(system: ActorSystem, stage: Stage, top: ActorRef<SupervisorMessage>, path: string, heard: string[]): Promise<void> {
  await stage.settle()
  stage.show(formatTree(await system.inspect(top)))
  heard.length = 0
  ;(system.find(path) as ActorRef<Order>).tell('crash')
  await stage.settle()
  stage.show(`  ${heard.splice(0).join(' ')}`)
  stage.show(formatTree(await system.inspect(top)))
}

async function end(system: ActorSystem, stage: Stage, ref: ActorRef<SupervisorMessage>): Promise<void> {
  const ended = system.whenTerminated(ref)
  ref.stop()
  await stage.settle()
  await ended
}
