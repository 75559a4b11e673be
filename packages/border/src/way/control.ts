// What threads say to each other besides messages: a closed list of records, each with its fields, and the check that each
// must pass when it comes. What is not in the list, or not of its shape, is no record of Troupe: whoever sent it cannot be
// trusted with the next one either.

import type { ActorSnapshot, AnyRef, TerminationReason, ExitReason, LedgerReport, Logger, Phase, SpawnOptions } from '@troupe/core'
import { type ActorName, type Command, LocalRef, type Rows, type Survey, type Wait } from '@troupe/core/internal'
import type { WaitMark } from '../exchange/deadlocks.ts'
import { Definition } from '../values/definition.ts'
import { BadRecord } from '../errors.ts'
import { phases } from '../values/phases.ts'
import { checkPlacement, type PlacementRequest } from '../values/placement.ts'

/** What went by a way, and came by it. */
export interface Traffic {
  readonly peer: number
  readonly sent: number
  readonly received: number
}

/** One place's part of a census. */
export interface Part {
  readonly epoch: number
  readonly ledger: LedgerReport
  /** Also of ways that only this end knows of so far. */
  readonly ways: readonly Traffic[]
  /** Bytes that it had written and that had not left it, on ways that are full or not open yet. */
  readonly unsent: number
  /** Handlers that wait for a promise. */
  readonly pending: number
}

/** What may be asked of an actor of another thread. */
export type Verb = Extract<Command, { readonly verb: 'stop' | 'kill' | 'suspend' | 'resume' | 'restart' }>

/** What places tell each other besides messages: a closed union, checked on arrival. */
export type Control =
  // Between a thread and the main one.
  | { readonly op: 'up'; readonly epoch: number }
  | { readonly op: 'place'; readonly id: number; readonly request: PlacementRequest; readonly uid: number }
  | { readonly op: 'placed'; readonly id: number; readonly epoch: number | undefined; readonly cause: unknown }
  | { readonly op: 'lost'; readonly epoch: number; readonly cause: unknown }
  | { readonly op: 'lost.counts'; readonly epoch: number; readonly sent: number; readonly received: number }
  | { readonly op: 'broken'; readonly epoch: number; readonly cause: unknown }
  | { readonly op: 'listen'; readonly on: boolean }
  | { readonly op: 'log'; readonly level: keyof Logger; readonly fields: unknown; readonly message: string }
  | { readonly op: 'letter'; readonly message: unknown; readonly sender: unknown; readonly recipient: unknown; readonly reason: string }
  | { readonly op: 'failure'; readonly actor: unknown; readonly message: unknown; readonly cause: unknown; readonly directive: unknown }
  | { readonly op: 'event'; readonly event: unknown }
  | { readonly op: 'inspect'; readonly id: number }
  | { readonly op: 'inspected'; readonly id: number; readonly hosted: readonly ActorSnapshot[] }
  | {
      readonly op: 'look'
      readonly id: number
      readonly what: 'survey' | 'names' | 'waits' | 'leave'
      readonly since: number | undefined
      readonly uids: readonly number[] | undefined
    }
  | {
      readonly op: 'looked'
      readonly id: number
      readonly survey: Survey | undefined
      readonly names: readonly ActorName[] | undefined
      readonly waits: readonly Wait[] | undefined
    }
  /** What the recorder of a thread has of the last failure at a path, as the text that it makes of it. */
  | { readonly op: 'record'; readonly id: number; readonly path: string }
  | { readonly op: 'recorded'; readonly id: number; readonly text: string }
  | { readonly op: 'find'; readonly id: number; readonly path: string }
  | { readonly op: 'found'; readonly id: number; readonly ref: AnyRef | undefined }
  | { readonly op: 'census.part'; readonly id: number; readonly part: Part }
  | { readonly op: 'task'; readonly id: number; readonly definition: Definition; readonly args: readonly unknown[] }
  | { readonly op: 'task.done'; readonly id: number; readonly ok: boolean; readonly value: unknown }
  | { readonly op: 'task.abort'; readonly id: number }
  // Between any two.
  | { readonly op: 'census'; readonly id: number }
  | { readonly op: 'verb'; readonly uid: number; readonly command: Verb }
  | { readonly op: 'ask.cancelled'; readonly id: number }
  | { readonly op: 'ask.moved'; readonly id: number; readonly to: AnyRef }
  | { readonly op: 'ask.passed'; readonly id: number; readonly at: number }
  | {
      readonly op: 'probe'
      /** The actor that the last question waits to be passed on to; undefined where somebody has it. */
      readonly uid: number | undefined
      readonly chain: readonly WaitMark[]
      readonly trail: readonly string[]
      readonly known: readonly WaitMark[] | undefined
    }
  | { readonly op: 'probe.confirm'; readonly known: readonly WaitMark[] }
  | { readonly op: 'follow'; readonly uid: number }
  | { readonly op: 'phases'; readonly uid: number }
  | { readonly op: 'phase'; readonly uid: number; readonly phase: Phase }
  | { readonly op: 'gone'; readonly uid: number; readonly reason: ExitReason; readonly cause: unknown }
  | { readonly op: 'locate'; readonly uid: number }
  | { readonly op: 'located'; readonly uid: number; readonly at: number }
  | { readonly op: 'whereis'; readonly uid: number }
  | { readonly op: 'absent'; readonly uid: number }
  /** An actor whose ref outlives it is watched by the sender, under this number; is so no more; or the life that was watched has ended. */
  | { readonly op: 'life.watch'; readonly uid: number; readonly id: number }
  | { readonly op: 'life.unwatch'; readonly id: number }
  | { readonly op: 'life.ended'; readonly id: number; readonly reason: TerminationReason; readonly cause: unknown }
  /** The number of refs that a place holds, or is about to get, of an actor whose ref outlives it has changed by `count`. */
  | { readonly op: 'held'; readonly uid: number; readonly place: number; readonly count: number }
  // Between nodes.
  /** Explains the number that the sender has for a place on this way. */
  | { readonly op: 'named'; readonly place: number; readonly name: string }
  /** A count of all nodes, begun by the place of that name; and one node's part of it. */
  | { readonly op: 'cut'; readonly id: number; readonly by: string }
  | { readonly op: 'cut.part'; readonly id: number; readonly part: unknown }
  /** Credit for letters to sharded actors: lot, taken, entered and window of each, in turn. */
  | { readonly op: 'entity.credit'; readonly credits: readonly number[] }
  /** A sharded actor that is watched under this number has ended; or its shard is with an owner of this epoch, or a later one. */
  | { readonly op: 'entity.ended'; readonly token: number; readonly reason: TerminationReason; readonly cause: unknown }
  | { readonly op: 'entity.elsewhere'; readonly token: number; readonly epoch: number }
  /** Either has arrived, and need not be told again. */
  | { readonly op: 'entity.heard'; readonly token: number }
  /** What the sender has done so far. */
  | { readonly op: 'account'; readonly account: unknown }
  // Between an actor's home and the thread that hosts it.
  | SpawnOrder
  | { readonly op: 'hosted.restart'; readonly uid: number; readonly cause: unknown; readonly within: number }
  | { readonly op: 'hosted.stop'; readonly uid: number; readonly reason: ExitReason; readonly cause: unknown; readonly within: number }
  /** With `args` where the incarnation that begins is made anew. */
  | { readonly op: 'hosted.release'; readonly uid: number; readonly args: readonly unknown[] | undefined }
  | { readonly op: 'stub.started'; readonly uid: number }
  | { readonly op: 'stub.failed'; readonly uid: number; readonly cause: unknown; readonly message: unknown }
  | { readonly op: 'stub.held'; readonly uid: number }
  | { readonly op: 'stub.endless'; readonly uid: number }
  | { readonly op: 'stub.ended'; readonly uid: number; readonly reason: ExitReason; readonly cause: unknown }

/** The record as the other end of a way has it: the numbers of places and actors are those of that way. */
export function renamed(content: Control, place: (place: number) => number, number: (number: number) => number): Control {
  const marks = (all: readonly WaitMark[]): readonly WaitMark[] => all.map((mark) => ({ ...mark, origin: place(mark.origin) }))
  switch (content.op) {
    case 'verb':
    case 'follow':
    case 'phases':
    case 'phase':
    case 'gone':
    case 'locate':
    case 'whereis':
    case 'absent':
    case 'life.watch':
      return { ...content, uid: number(content.uid) }
    case 'held':
      return { ...content, uid: number(content.uid), place: place(content.place) }
    case 'located':
      return { ...content, uid: number(content.uid), at: place(content.at) }
    case 'ask.passed':
      return { ...content, at: place(content.at) }
    case 'probe': {
      const { uid, chain, known } = content
      return { ...content, uid: uid === undefined ? undefined : number(uid), chain: marks(chain), known: known && marks(known) }
    }
    case 'probe.confirm':
      return { ...content, known: marks(content.known) }
    default:
      return content
  }
}

/** What a thread must know to make an actor. */
export type SpawnOrder = {
  readonly op: 'hosted.spawn'
  readonly uid: number
  readonly path: string
  readonly parent: LocalRef
  readonly definition: Definition
  readonly args: readonly unknown[]
  readonly options: SpawnOptions
  readonly incarnation: number
}

export type Op = Control['op']
/** The record of that name. */
export type ControlOf<O extends Op> = Extract<Control, { readonly op: O }>

type Check = (value: unknown) => boolean
/** One check for each field, or it does not compile. */
type Shapes = { readonly [O in Op]: { readonly [F in Exclude<keyof ControlOf<O>, 'op'>]-?: Check } }

const any: Check = () => true
const whole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const integer: Check = (value) => Number.isSafeInteger(value)
const number: Check = (value) => typeof value === 'number' && !Number.isNaN(value)
const text: Check = (value) => typeof value === 'string'
const flag: Check = (value) => typeof value === 'boolean'
const list: Check = (value) => Array.isArray(value)
const object: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const actor: Check = (value) => value instanceof LocalRef
const or =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value))
const absent: Check = (value) => value === undefined
const among =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
const of =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    object(value) && Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]))

const definition: Check = (value) => Definition.is(value)
const reason = among('normal', 'shutdown', 'killed', 'failure')
const placement: Check = (value) => {
  if (!of({ dispatcher: among('parallel', 'pinned') })(value)) return false
  try {
    checkPlacement((value as PlacementRequest).rule)
    return true
  } catch {
    return false
  }
}
const verbs: { readonly [V in Verb['verb']]: Check } = {
  stop: of({ reason, above: or(absent, number) }),
  kill: any,
  suspend: of({ reason: text }),
  resume: any,
  restart: of({ delay: number, above: or(absent, number) }),
}
const verb: Check = (value) => {
  const name = object(value) ? (value as { readonly verb?: unknown }).verb : undefined
  return typeof name === 'string' && Object.hasOwn(verbs, name) && verbs[name as Verb['verb']](value)
}
const counts: Readonly<Record<string, Check>> = Object.fromEntries(
  ['sent', 'handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'queued', 'stashed', 'inProgress', 'unknown'].map((name) => [name, number]),
)
const each =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const marks: Check = (value) => each(of({ origin: whole, id: whole, mode: among('reject', 'warn', 'off') }))(value) && (value as unknown[]).length > 0
const snapshot: Check = (value) => of({ uid: whole, path: text, phase: text, children: list })(value)

const wait = of({ target: whole, targetPath: text, ms: number, left: number, state: among('queued', 'taken', 'handled', 'away'), binds: flag })
const actorName = of({ uid: whole, path: text, kind: text })
const columns: readonly (keyof Rows)[] = [
  ...(['uid', 'parent', 'processed', 'busy', 'turns', 'pending', 'queued', 'stashed', 'timers', 'incarnation', 'phase', 'stub'] as const),
]
/** Columns of one length. */
const rows: Check = (value) =>
  of({ length: whole })(value) &&
  columns.every((column) => {
    const numbers = (value as Rows)[column]
    return ArrayBuffer.isView(numbers) && (numbers as Float64Array).length === (value as Rows).length
  })
const survey = of({
  at: number,
  epoch: whole,
  whole: flag,
  rows,
  gone: (value) => value instanceof Float64Array,
  waits: each(wait),
  waitsLeftOut: whole,
  spent: number,
})

const shapes: Shapes = {
  up: { epoch: whole },
  place: { id: whole, request: placement, uid: whole },
  placed: { id: whole, epoch: or(absent, whole), cause: any },
  lost: { epoch: whole, cause: any },
  'lost.counts': { epoch: whole, sent: whole, received: whole },
  broken: { epoch: whole, cause: any },
  listen: { on: flag },
  log: { level: among('debug', 'info', 'warn', 'error'), fields: any, message: text },
  letter: { message: any, sender: any, recipient: any, reason: text },
  failure: { actor: any, message: any, cause: any, directive: or(absent, text) },
  event: { event: any },
  inspect: { id: whole },
  inspected: { id: whole, hosted: (value) => Array.isArray(value) && value.every(snapshot) },
  look: { id: whole, what: among('survey', 'names', 'waits', 'leave'), since: or(absent, whole), uids: or(absent, each(whole)) },
  looked: { id: whole, survey: or(absent, survey), names: or(absent, each(actorName)), waits: or(absent, each(wait)) },
  record: { id: whole, path: text },
  recorded: { id: whole, text },
  find: { id: whole, path: text },
  found: { id: whole, ref: or(absent, actor) },
  'census.part': {
    id: whole,
    part: of({ epoch: whole, ledger: of(counts), ways: each(of({ peer: whole, sent: whole, received: whole })), unsent: whole, pending: number }),
  },
  task: { id: whole, definition, args: list },
  'task.done': { id: whole, ok: flag, value: any },
  'task.abort': { id: whole },
  census: { id: whole },
  verb: { uid: whole, command: verb },
  'ask.cancelled': { id: whole },
  'ask.moved': { id: whole, to: actor },
  'ask.passed': { id: whole, at: whole },
  probe: { uid: or(absent, whole), chain: marks, trail: list, known: or(absent, marks) },
  'probe.confirm': { known: marks },
  follow: { uid: whole },
  phases: { uid: whole },
  phase: { uid: whole, phase: among(...phases) },
  gone: { uid: whole, reason, cause: any },
  locate: { uid: whole },
  located: { uid: whole, at: whole },
  whereis: { uid: whole },
  absent: { uid: whole },
  'life.watch': { uid: whole, id: whole },
  'life.unwatch': { id: whole },
  'life.ended': { id: whole, reason: or(reason, among('passivated')), cause: any },
  held: { uid: whole, place: whole, count: integer },
  named: { place: whole, name: text },
  cut: { id: whole, by: text },
  'cut.part': { id: whole, part: object },
  'entity.credit': { credits: each(whole) },
  'entity.ended': { token: whole, reason: or(reason, among('passivated')), cause: any },
  'entity.elsewhere': { token: whole, epoch: whole },
  'entity.heard': { token: whole },
  account: { account: object },
  'hosted.spawn': { uid: whole, path: text, parent: actor, definition, args: list, options: object, incarnation: whole },
  'hosted.restart': { uid: whole, cause: any, within: number },
  'hosted.stop': { uid: whole, reason, cause: any, within: number },
  'hosted.release': { uid: whole, args: or(absent, list) },
  'stub.started': { uid: whole },
  'stub.failed': { uid: whole, cause: any, message: any },
  'stub.held': { uid: whole },
  'stub.endless': { uid: whole },
  'stub.ended': { uid: whole, reason, cause: any },
}

/** A record that has come, if it is one of the list and of its shape; throws `BadRecord` otherwise. */
export function checkControl(value: unknown): Control {
  const op = object(value) ? (value as { readonly op?: unknown }).op : undefined
  if (typeof op !== 'string' || !Object.hasOwn(shapes, op)) throw new BadRecord(`there is no record "${typeof op === 'string' ? op : typeof op}"`)
  const fields = shapes[op as Op] as Readonly<Record<string, Check>>
  for (const [name, check] of Object.entries(fields))
    if (!check((value as Record<string, unknown>)[name])) throw new BadRecord(`field ${name} of record "${op}" is not what it has to be`)
  for (const name of Object.keys(value as object))
    if (name !== 'op' && !Object.hasOwn(fields, name)) throw new BadRecord(`record "${op}" has no field ${name}`)
  return value as Control
}
