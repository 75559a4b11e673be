// The two sides of one run of the model test: real supervisors and the textbook ones, told the same and compared.

import { createTestKit, type TestKit } from '@troupe/testkit'
import {
  type ActorRef,
  type AnyChildSpec,
  type AnyRef,
  child,
  ChildRefused,
  supervisor,
  supervisorClient,
  type SupervisorMessage,
} from '@troupe/core'
import { holdsRefs, letters, ModelChild, ModelSupervisor, period, type SupervisorPlan, World } from './model.ts'
import { type Journal, makeJournal, type Work, worker } from './worker.ts'

function agree<T extends string | number | boolean>(real: T, model: T, what: string): void {
  if (real !== model) throw new Error(`${what}: the supervisor says ${String(real)}, the model ${String(model)}.`)
}

/** The uids of those whose refs a child was given last, by its path and their names. */
type Holdings = Map<string, Map<string, number>>

interface Scene {
  readonly journal: Journal
  readonly holdings: Holdings
}

function specOf(plan: SupervisorPlan, i: number, path: string, before: readonly AnyChildSpec[], scene: Scene): AnyChildSpec {
  const { restart, significant, needs, inner } = plan.children[i]!
  const name = letters[i]!
  const at = path === '' ? name : `${path}/${name}`
  const needed = before.filter((_, n) => (needs >> n) & 1)
  const options = { restart, significant: significant && restart !== 'permanent' && plan.autoShutdown !== 'never', needs: needed }
  if (inner !== undefined) return child(name, behaviorOf(inner, at, scene), options)
  if (!holdsRefs(plan, i)) return child(name, worker(at, scene.journal), options)
  return child(
    name,
    ({ refOf }) => {
      scene.holdings.set(at, new Map(needed.map((spec) => [spec.name!, (refOf(spec) as AnyRef).uid])))
      return worker(at, scene.journal)
    },
    options,
  )
}

function behaviorOf(plan: SupervisorPlan, path: string, scene: Scene): ReturnType<typeof supervisor> {
  const { strategy, intensity, autoShutdown } = plan
  const children: AnyChildSpec[] = []
  for (const i of plan.children.keys()) children.push(specOf(plan, i, path, children, scene))
  return supervisor({ strategy, intensity, period, autoShutdown, children })
}

/** Both sides of one run. */
export class Run {
  readonly kit: TestKit = createTestKit()
  readonly journal: Journal = makeJournal()
  readonly world: World = new World()
  readonly uids = new Map<number, number>()
  readonly holdings: Holdings = new Map()
  readonly model: ModelSupervisor
  alive = true
  constructor(plan: SupervisorPlan) {
    this.model = new ModelSupervisor(plan, '', this.world, () => (this.alive = false))
    this.kit.system.spawn(behaviorOf(plan, '', this), { name: 'top', supervision: 'stop' })
  }

  real(path: string): AnyRef {
    return this.kit.system.find(path === '' ? '/user/top' : `/user/top/${path}`)!
  }

  /** The supervisor of a path, as long as it runs; what is below a stopped one cannot be reached. */
  over(path: string): ModelSupervisor | undefined {
    const [first, second] = path.split('/')
    if (second === undefined) return this.alive ? this.model : undefined
    const above = this.alive ? this.model.children.find((c) => c.name === first) : undefined
    return above?.up === true ? above.sup : undefined
  }

  async perform(text: string): Promise<void> {
    const [verb, arg = ''] = text.split(' ')
    const { world, kit } = this
    if (verb === 'tick') {
      world.now += Number(arg)
      return kit.advance(Number(arg))
    }
    if (verb === 'jam') {
      world.failStarts.set(arg, 1)
      ;(this.journal.plans[arg] ??= {}).failStarts = 1
      return
    }
    const sup = this.over(arg)
    if (sup === undefined) return
    const name = arg.split('/').at(-1)!
    const c = sup.children.find((o) => o.name === name)
    if (verb === 'crash' || verb === 'end' || verb === 'kill') return this.end(verb, sup, c)
    const client = supervisorClient(this.real(sup.path) as ActorRef<SupervisorMessage>)
    const requests = {
      start: () => client.startChild(child(name, worker(arg, this.journal))),
      stop: () => client.stopChild(name),
      restart: () => client.restartChild(name),
      delete: () => client.deleteChild(name),
    }
    const answered = requests[verb as keyof typeof requests]().then(
      () => 'ok',
      (e: unknown) => (e instanceof ChildRefused ? e.reason : String(e)),
    )
    const expected = this.request(verb!, sup, c, name, arg)
    await kit.settle()
    agree(await answered, expected, text)
  }

  async end(verb: 'crash' | 'end' | 'kill', sup: ModelSupervisor, c: ModelChild | undefined): Promise<void> {
    if (c === undefined || !c.up || (c.sup !== undefined && verb !== 'kill')) return
    const target = this.real(c.path) as ActorRef<Work>
    if (verb === 'kill') this.kit.system.kill(target)
    else target.tell({ type: verb })
    if (verb !== 'crash') {
      // Who kills a supervisor does not get its children stopped in order.
      if (c.sup !== undefined) this.world.loose = true
      sup.rest(c)
    }
    sup.exit(c, verb === 'crash' ? 'failure' : verb === 'end' ? 'normal' : 'killed')
    await this.kit.settle()
  }

  request(verb: string, sup: ModelSupervisor, c: ModelChild | undefined, name: string, path: string): string {
    if (verb === 'start') {
      if (c !== undefined) return c.up ? 'already-started' : 'already-present'
      const added = new ModelChild(name, path, { restart: 'permanent', significant: false, needs: 0, inner: undefined }, [])
      sup.children.push(added)
      if (sup.start(added)) return 'ok'
      sup.children = sup.children.filter((o) => o !== added)
      return 'start-failed'
    }
    if (c === undefined) return 'not-found'
    if (verb === 'stop') {
      sup.stop(c)
      return 'ok'
    }
    if (c.up) return 'running'
    if (verb === 'delete') {
      if (sup.children.some((o) => o.needs.includes(c.name))) return 'needed'
      sup.children = sup.children.filter((o) => o !== c)
      return 'ok'
    }
    if (sup.start(c)) {
      sup.renew(c)
      return 'ok'
    }
    sup.stop(c)
    return 'start-failed'
  }

  async compare(after: string): Promise<void> {
    const { world, journal, kit } = this
    const [expected, seen] = [world.lines.splice(0), journal.take()]
    if (world.loose) for (const lines of [expected, seen]) lines.sort()
    world.loose = false
    agree(seen.join(' '), expected.join(' '), `What happened after ${after}`)
    agree(this.real('') !== undefined, this.alive, `Whether it lives after ${after}`)
    if (!this.alive) return
    for (const sup of [this.model, ...this.model.children.flatMap((c) => (c.up && c.sup !== undefined ? [c.sup] : []))]) {
      const asked = supervisorClient(this.real(sup.path) as ActorRef<SupervisorMessage>).children()
      await kit.settle()
      const real = await asked
      const listed = real.map((c) => `${c.name} ${c.status}`)
      const meant = sup.children.map((c) => `${c.name} ${c.up ? 'running' : 'stopped'}`)
      agree(listed.join(', '), meant.join(', '), `The children of /${sup.path} after ${after}`)
      for (const [i, c] of sup.children.entries()) {
        if (!c.up) continue
        const { uid } = real[i]!.ref!
        const known = this.uids.get(c.life)
        this.uids.set(c.life, uid)
        if (known !== undefined) agree(uid, known, `The uid of ${c.path} after ${after}`)
      }
    }
    for (const sup of [this.model, ...this.model.children.flatMap((c) => (c.up && c.sup !== undefined ? [c.sup] : []))])
      for (const c of sup.children)
        if (c.up)
          for (const [name, life] of c.held) {
            agree(this.holdings.get(c.path)!.get(name)!, this.uids.get(life)!, `The uid of ${name} that ${c.path} holds after ${after}`)
            const now = sup.children.find((o) => o.name === name)
            if (now?.up === true) agree(life, now.life, `The life of ${name} that ${c.path} holds after ${after}`)
          }
    const lives = [...this.uids.values()]
    agree(new Set(lives).size, lives.length, `The number of uids after ${after}`)
  }
}
