// A supervisor as a behavior: checks what was declared, starts it, answers requests about it, and stops it again in
// order. All decisions are in decide.ts, all effects in engine.ts.
//
//   setup: children start, in order ─→ running ─→ PreStop or PreRestart: children stop, youngest first

import { cellOf } from '../../cell/ref/local-ref.ts'
import { type Behavior, receive, same, setup, unhandled } from '../../values/behavior.ts'
import { checkCan, checkFinite, checkList, checkOneOf, checkWhole, readOptions, type Table } from '../../values/checks.ts'
import type { ActorContext } from '../../values/context.ts'
import { InvalidOption, show } from '../../values/errors.ts'
import { endless } from '../../values/options.ts'
import { type AnyChildSpec, type ChildTemplate, isSpec } from './child-spec.ts'
import { Engine } from './engine.ts'
import { InvalidChildren } from './errors.ts'
import { SupervisorBehavior } from './marker.ts'
import { orderByNeeds } from './order.ts'
import type { SupervisorMessage } from './protocol.ts'
import { refusal } from './refusal.ts'
import type { Strategy } from './scope.ts'
import { type AutoShutdown, makeTree } from './tree.ts'

interface CommonOptions {
  /** How many restarts are too many when exceeded within `period`; 3 if left out. */
  readonly intensity?: number | undefined
  /** Milliseconds over which restarts are counted; 5,000 if left out. */
  readonly period?: number | undefined
  /** Whether significant children end the supervisor when they end by themselves; `never` if left out. */
  readonly autoShutdown?: AutoShutdown | undefined
}

/** How a supervisor is set up: declared children, or one template for dynamic ones. */
export type SupervisorOptions =
  | (CommonOptions & {
      /** `one-for-one` if left out. */
      readonly strategy?: Exclude<Strategy, 'simple-one-for-one'> | undefined
      readonly children?: readonly AnyChildSpec[] | undefined
    })
  | (CommonOptions & { readonly strategy: 'simple-one-for-one'; readonly template: ChildTemplate<never, never> })

interface Checked {
  readonly strategy: Strategy
  readonly intensity: number
  readonly period: number
  readonly autoShutdown: AutoShutdown
  readonly children: readonly AnyChildSpec[]
  readonly template: object | undefined
}

/**
 * A supervisor of declared children, as OTP has them: a behavior, so it is spawned like any actor and nests.
 *
 * Guarantees: children start one after the other, each after those it needs, and stop in reverse; a child that failed
 * is restarted in place, keeping its ref and mailbox; at most `intensity` restarts within `period`, then the
 * children are stopped, youngest first, and the supervisor fails with `RestartIntensityExceeded`.
 * Fails with `InvalidChildren` on duplicate names, unknown needs and cycles, and with `InvalidOption`. If a child's
 * first start fails, those started before are stopped and the supervisor's own start fails.
 *
 * @example
 * system.spawn(supervisor({ strategy: 'rest-for-one', children: [
 *   child('db', db()),
 *   child('cache', cache(), { restart: 'transient', needs: ['db'] }),
 * ] }), { name: 'storage' })
 */
export function supervisor(options: SupervisorOptions): Behavior<SupervisorMessage> {
  const checked = check(options)
  const behavior = setup<SupervisorMessage>((ctx) => begin(ctx, checked))
  // Its children bound the time it takes to start and to stop; their supervisor does not cut that short.
  return new SupervisorBehavior(behavior, { startTimeout: endless, stopTimeout: endless })
}

interface AllOptions extends CommonOptions {
  readonly strategy?: Strategy | undefined
  readonly children?: readonly AnyChildSpec[] | undefined
  readonly template?: object | undefined
}

const table: Table<AllOptions> = {
  strategy: [checkOneOf, ['one-for-one', 'all-for-one', 'rest-for-one', 'dependents', 'simple-one-for-one']],
  intensity: [checkWhole, 0],
  period: [checkFinite, 'above'],
  autoShutdown: [checkOneOf, ['never', 'any-significant', 'all-significant']],
  children: (option, value) => checkList(option, value, isSpec, 'child(name, behavior)'),
  template: [checkCan, ['template(…)', 'with']],
}

function check(options: SupervisorOptions): Checked {
  const read = readOptions<AllOptions>('supervisor', options, table)
  const { strategy = 'one-for-one', intensity = 3, period = 5000, autoShutdown = 'never', children = [], template } = read
  const simple = strategy === 'simple-one-for-one'
  if (simple && template === undefined) throw new InvalidOption('template', template, 'a simple-one-for-one supervisor has one: use template(…)')
  if (simple && children.length > 0)
    throw new InvalidOption('children', children, 'a simple-one-for-one supervisor has no declared children; start instances of its template')
  if (!simple && template !== undefined) throw new InvalidOption('template', template, "only strategy 'simple-one-for-one' has one")
  const ordered = orderByNeeds(children, 'The supervisor')
  for (const c of ordered) {
    if (holdsStale(strategy, c)) throw new InvalidOption('strategy', strategy, `"${c.name}" ${stale}`)
    const other = c.siblings.find((s) => !children.includes(s))
    if (other !== undefined)
      throw new InvalidChildren(`The supervisor: "${c.name}" needs "${other.name}" by another spec. Give the same one to needs and children.`)
  }
  const significant = ordered.find((c) => c.significant)
  if (significant !== undefined && autoShutdown === 'never')
    throw new InvalidOption('autoShutdown', autoShutdown, `"${significant.name}" is significant: use 'any-significant' or 'all-significant'`)
  return { strategy, intensity, period, autoShutdown, children: ordered, template }
}

function begin(ctx: ActorContext<SupervisorMessage>, checked: Checked): Promise<Behavior<SupervisorMessage>> {
  const { runtime } = cellOf(ctx.self)!.host
  const tree = makeTree({ ...checked, path: ctx.path, random: () => runtime.random() })
  const engine = new Engine(ctx, tree, checked.children)
  const running = receive<SupervisorMessage>(
    (_ctx, message) => {
      return handle(engine, checked, ctx.path, message) ? same : unhandled
    },
    (_ctx, signal) => {
      // Unhandled: a handler given from outside hears of everything too, of ends when the children are gone.
      if (signal.type === 'PreStop' || signal.type === 'PreRestart') return new Promise((resolve) => engine.close(() => resolve(unhandled)))
      if (signal.type === 'PostStop') engine.dispose()
      return unhandled
    },
  )
  return new Promise((resolve, reject) => {
    const { signal } = ctx
    // Stopped while it starts: what has started is stopped in order, like at any other time.
    const interrupted = (): void => engine.close(() => resolve(running))
    signal.addEventListener('abort', interrupted, { once: true })
    engine.boot((error) => {
      signal.removeEventListener('abort', interrupted)
      if (error === undefined) resolve(running)
      else reject(error.cause)
    })
  })
}

/** False: it is not a message for a supervisor. */
function handle(engine: Engine, checked: Checked, path: string, message: SupervisorMessage): boolean {
  if (!isLegible(message)) return false
  switch (message?.type) {
    case 'start-child': {
      const wrong = misfit(checked, message.child)
      if (wrong === undefined) engine.start(message.child, message.replyTo)
      else {
        const cause = new InvalidOption('child', message.child, wrong)
        engine.reply(message.replyTo, refusal(path, `start ${show(message.child?.name ?? 'a child')}`, { ok: false, reason: 'invalid', cause }))
      }
      return true
    }
    case 'stop-child':
      engine.control('stop', message.child, message.replyTo)
      return true
    case 'restart-child':
      engine.control('restart', message.child, message.replyTo)
      return true
    case 'delete-child':
      engine.control('delete', message.child, message.replyTo)
      return true
    case 'find-child': {
      const ref = engine.find(message.child)
      engine.reply(message.replyTo, ref === undefined ? refusal(path, 'find a child', { ok: false, reason: 'not-found' }) : { ok: true, ref })
      return true
    }
    case 'children':
      engine.reply(message.replyTo, engine.roster.list())
      return true
    case 'count':
      engine.reply(message.replyTo, engine.roster.count())
      return true
    default:
      return false
  }
}

/** What is read of a request for the sake of its child, be it a spec, a ref or a name. */
const looked = ['name', 'path', 'behavior', 'make', 'needs', 'siblings', 'spawn', 'template', 'significant'] as const

/** Whether a request can be read: a getter or proxy that throws must not fail the supervisor, and its children with it. */
function isLegible(message: SupervisorMessage): boolean {
  try {
    const { child, replyTo } = (message ?? {}) as { readonly child?: unknown; readonly replyTo?: { readonly tell?: unknown } }
    void replyTo?.tell
    if ((typeof child !== 'object' && typeof child !== 'function') || child === null) return true
    void ('tell' in child)
    for (const part of looked) void (child as Record<string, unknown>)[part]
    return true
  } catch {
    return false
  }
}

/** Why a child cannot be one of this supervisor's, in words; undefined if it can. */
function misfit({ template, autoShutdown, strategy }: Checked, spec: AnyChildSpec): string | undefined {
  if (!isSpec(spec)) return 'use child(name, behavior) or template(…).with(…)'
  if (spec.template !== template)
    return template === undefined
      ? 'it is an instance of a template; use child(name, behavior)'
      : 'use an instance of the template of this supervisor'
  if (holdsStale(strategy, spec)) return `it ${stale}`
  if (spec.significant && autoShutdown === 'never')
    return "a significant child needs a supervisor with autoShutdown 'any-significant' or 'all-significant'"
  return undefined
}

/** Whether nobody would restart a child when a sibling whose ref it holds comes back as another actor. */
function holdsStale(strategy: Strategy, spec: AnyChildSpec): boolean {
  return strategy === 'one-for-one' && spec.siblings.length > 0
}

const stale = "holds refs of its siblings, which go stale unless it is restarted with them; use 'dependents', 'rest-for-one' or 'all-for-one'"
