// One actor that does what it is told, on whatever thread, and reports what happens to it.

import { threadId } from 'node:worker_threads'
import { ActorError, type ActorRef, type AnyRef, type Behavior, receive, reject, same, setup, type Signal, stopped, unhandled } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export interface Report {
  readonly who: string
  readonly what: string
  readonly value?: unknown
}

export type Subject =
  | { readonly type: 'note'; readonly value: unknown }
  | { readonly type: 'echo'; readonly value: unknown; readonly replyTo: ActorRef<unknown> }
  | { readonly type: 'refuse'; readonly message: string; readonly replyTo: ActorRef<unknown> }
  | { readonly type: 'where'; readonly replyTo: ActorRef<number> }
  | { readonly type: 'system'; readonly replyTo: ActorRef<number> }
  | { readonly type: 'state'; readonly replyTo: ActorRef<{ readonly count: number; readonly incarnation: number }> }
  | { readonly type: 'throw'; readonly message: string; readonly kind?: 'transient' | 'permanent' | 'fatal'; readonly code?: string }
  | { readonly type: 'wait'; readonly ms: number; readonly note: unknown }
  | { readonly type: 'spawn'; readonly name: string; readonly dispatcher?: string }
  | { readonly type: 'watch'; readonly ref: AnyRef }
  | { readonly type: 'unwatch'; readonly ref: AnyRef }
  | { readonly type: 'tell'; readonly ref: ActorRef<never>; readonly message: unknown }
  | {
      readonly type: 'ask'
      readonly ref: ActorRef<Subject>
      readonly value: unknown
      readonly timeout?: number
      readonly await?: boolean
      readonly replyTo?: ActorRef<unknown>
    }
  | { readonly type: 'forward'; readonly ref: ActorRef<Subject>; readonly replyTo: ActorRef<unknown> }
  | {
      readonly type: 'relay'
      readonly to: ActorRef<Subject>
      readonly back: ActorRef<Subject> | undefined
      readonly timeout: number
      readonly replyTo?: ActorRef<unknown>
    }
  | { readonly type: 'stash' }
  | { readonly type: 'unstash' }
  | { readonly type: 'timer'; readonly ms: number; readonly note: unknown }
  | { readonly type: 'receive-timeout'; readonly ms: number | null }
  | { readonly type: 'adapt'; readonly replyTo: ActorRef<ActorRef<string>> }
  | { readonly type: 'stop-self' }
  | { readonly type: 'never' }
  | { readonly type: 'unknown'; readonly replyTo?: ActorRef<unknown> }
  | { readonly type: 'burn'; readonly ms: number }
  /** Holds its thread until the gate is 1. */
  | { readonly type: 'hold'; readonly gate: Int32Array }
  | { readonly type: 'spin' }
  /** As `spin`, without using its core. */
  | { readonly type: 'hang' }
  | { readonly type: 'exit' }
  | { readonly type: 'reject' }
  | { readonly type: 'throw-outside' }
  | { readonly type: 'oom' }
  | { readonly type: 'sender' }
  | { readonly type: 'parent' }
  | { readonly type: 'hand-over'; readonly value: unknown }
  | { readonly type: 'signal-aborts' }

export interface Script {
  readonly report: ActorRef<Report>
  /** Fails in setup while the incarnation is below this. */
  readonly failStarts?: number
  readonly slowStart?: number
  /** As `slowStart`, of the first incarnation only. */
  readonly slowFirstStart?: number
  readonly slowStop?: number
  readonly quiet?: boolean
}

export const subject: ActorDefinition<[script: Script], Subject> = defineActor(import.meta.url, 'subject', (script: Script) =>
  setup<Subject>(async (ctx) => {
    const { report } = script
    const who = ctx.path
    const tell = (what: string, value?: unknown): void => report.tell({ who, what, value })
    let count = 0
    let stashing = false
    let handing: unknown
    const slow = (ctx.incarnation === 0 ? script.slowFirstStart : undefined) ?? script.slowStart
    if (slow !== undefined) await new Promise((resolve) => setTimeout(resolve, slow))
    if ((script.failStarts ?? 0) > ctx.incarnation) throw new Error(`start ${ctx.incarnation} fails`)
    if (ctx.handedOver !== undefined) tell('handed over', ctx.handedOver)

    const handle = (m: Subject): Behavior<Subject> | Promise<Behavior<Subject> | void> | void => {
      count++
      if (stashing && m.type !== 'unstash') {
        ctx.stash.add(m)
        return same
      }
      switch (m.type) {
        case 'note':
          tell('note', m.value)
          return same
        case 'refuse':
          reject(m.replyTo, Object.assign(new RangeError(m.message), { code: 'too-far' }))
          return same
        case 'echo':
          m.replyTo.tell(m.value)
          return same
        case 'where':
          m.replyTo.tell(threadId)
          return same
        case 'system':
          m.replyTo.tell(ctx.system.id)
          return same
        case 'state':
          m.replyTo.tell({ count, incarnation: ctx.incarnation })
          return same
        case 'throw':
          throw m.kind === undefined
            ? Object.assign(new TypeError(m.message, { cause: new Error('root') }), { code: m.code ?? 'none' })
            : new ActorError(m.message, { kind: m.kind })
        case 'wait':
          return new Promise<void>((resolve) => setTimeout(resolve, m.ms)).then(() => {
            tell('note', m.note)
            return same
          })
        case 'spawn':
          tell('spawned', ctx.spawn(subject(script), { name: m.name, ...(m.dispatcher === undefined ? undefined : { dispatcher: m.dispatcher }) }))
          return same
        case 'watch':
          ctx.watch(m.ref)
          return same
        case 'unwatch':
          ctx.unwatch(m.ref)
          return same
        case 'tell':
          m.ref.tell(m.message as never, ctx.self)
          return same
        case 'ask': {
          const asked = ctx.ask(m.ref, { type: 'echo', value: m.value }, m.timeout === undefined ? undefined : { timeout: m.timeout }).then(
            (answer) => (m.replyTo === undefined ? tell('answer', answer) : m.replyTo.tell(answer)),
            (cause: Error & { code?: string }) => tell('refused', cause.code ?? cause.message),
          )
          return m.await === true ? asked.then(() => same) : same
        }
        case 'relay':
          return ctx
            .ask(
              m.to,
              (replyTo: ActorRef<unknown>) =>
                m.back === undefined
                  ? { type: 'echo', value: 1, replyTo }
                  : { type: 'relay', to: m.back, back: undefined, timeout: m.timeout, replyTo },
              { timeout: m.timeout },
            )
            .then(
              () => same,
              () => same,
            )
        case 'forward':
          ctx.forward(m.ref)
          return same
        case 'stash':
          stashing = true
          return same
        case 'unstash':
          stashing = false
          ctx.stash.unstashAll()
          return same
        case 'timer':
          ctx.timers.once('t', m.ms, { type: 'note', value: m.note })
          return same
        case 'receive-timeout':
          ctx.setReceiveTimeout(m.ms)
          return same
        case 'adapt':
          m.replyTo.tell(ctx.adapt((text: string) => ({ type: 'note', value: `adapted ${text}` })))
          return same
        case 'stop-self':
          return stopped
        case 'never':
          tell('waiting for ever')
          return new Promise<void>(() => {})
        case 'unknown':
          return unhandled
        case 'burn': {
          const until = performance.now() + m.ms
          while (performance.now() < until) continue
          return same
        }
        case 'hold':
          Atomics.wait(m.gate, 0, 0)
          return same
        case 'hang':
          for (const never = new Int32Array(new SharedArrayBuffer(4)); ;) Atomics.wait(never, 0, 0, 50)
        case 'spin':
          for (;;) continue
        case 'exit':
          return process.exit(3)
        case 'reject':
          void Promise.reject(new Error('nobody caught this'))
          return same
        case 'throw-outside':
          setTimeout(() => {
            throw new Error('outside of any handler')
          })
          return same
        case 'oom': {
          const hoard: string[][] = []
          for (;;) hoard.push(new Array<string>(100_000).fill(String(hoard.length)))
        }
        case 'sender':
          tell('sender', ctx.sender?.path)
          return same
        case 'parent':
          ctx.parent.tell({ who, what: 'to parent' } as never)
          return same
        case 'hand-over':
          handing = m.value
          throw new Error('to be restarted')
        case 'signal-aborts':
          tell('waiting for the end')
          return new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true })).then(() => tell('aborted'))
      }
    }
    const hear = (signal: Signal): Promise<void> | void => {
      if (signal.type === 'PreRestart' && handing !== undefined) ctx.handOver(handing)
      if (script.quiet !== true)
        tell(
          signal.type,
          'ref' in signal
            ? { path: signal.ref.path, reason: signal.reason }
            : 'child' in signal
              ? signal.child.path
              : 'cause' in signal
                ? (signal.cause as Error)?.message
                : undefined,
        )
      if (signal.type === 'PostStop' && script.slowStop !== undefined) return new Promise((resolve) => setTimeout(resolve, script.slowStop))
      return undefined
    }
    return receive<Subject>(
      (_ctx, m) => handle(m),
      (_ctx, signal) => hear(signal),
    )
  }),
)

/** A task: hashes nothing, but takes its time. */
export function add(a: number, b: number): number {
  return a + b
}
export function failing(message: string): never {
  throw Object.assign(new RangeError(message), { code: 'E_TASK' })
}
export function untilAborted(_n: number, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'), { once: true }))
}
export function spin(): never {
  for (;;) continue
}
export function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}
