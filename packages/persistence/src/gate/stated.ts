// An actor whose state is kept as a whole: what is written is the newest state, with its revision. Changes that come while a write is under
// way are one write. Mail and timers are kept beside the state, in the same record.

import type { ActorContext, MessageSchema } from '@troupe/core'
import type { Cell } from '@troupe/core/internal'
import { decode, encode } from '../values/codec.ts'
import { RecoveryFailed, SubjectErased } from '../values/errors.ts'
import type { Head, Ownership, StoredState, Write } from '../values/stored.ts'
import { Belongings } from './belongings.ts'
import { checkSubject, isSameObject, stateOf } from './definition.ts'
import { Entity } from './entity.ts'
import type { Flight, Turn } from './flight.ts'
import type { Hub } from './hub.ts'
import { isSealed } from './keyring.ts'
import { fitting, validate } from './schema-check.ts'

/** What is known of all actors of one kind. */
export interface KeptState {
  readonly initial: (key: string) => unknown
  readonly version: number
  readonly upcast: ((stored: { readonly version: number; readonly state: unknown }) => unknown) | undefined
  readonly schema: MessageSchema | undefined
  readonly subject: ((state: never) => string | undefined) | undefined
}

/** A record with more than the state begins so; the codec makes no such text. */
const front = '{"$":"kept"'
interface WithMore {
  /** The state's own text; none where it was never set, or was cleared. */
  readonly s?: string
  readonly own: string
}

/** Where memory stands. */
interface Memory {
  readonly state: unknown
  /** Whether there is a state at all; otherwise it is the initial one. */
  readonly there: boolean
  /** The text of a state that was not given to the journal yet. */
  readonly text: string | undefined
  readonly subject: string | undefined
  /** Whether something was not given to the journal yet. */
  readonly dirty: boolean
}

const blank: Memory = { state: undefined, there: false, text: undefined, subject: undefined, dirty: false }

export abstract class Stated extends Entity {
  readonly #kept: KeptState
  #memory: Memory = blank

  constructor(id: string, hub: Hub, cell: Cell, kept: KeptState) {
    super(id, hub, cell)
    this.#kept = kept
  }

  get state(): unknown {
    return this.#memory.state
  }
  set(given: unknown): void {
    const turn = this.inCommand('set its state')
    if (isSameObject(given, this.state)) turn.inPlace = true
    const text = encode(given, 'state', this.id)
    const { schema } = this.#kept
    // As it will be read: a schema may make another value of it.
    const state = schema === undefined ? given : fitting(schema, text, 'state', this.id)
    const subject = checkSubject(this.#kept.subject?.(state as never))
    if (subject !== undefined && this.hub.keyring.peek(subject) === 'erased') throw new SubjectErased(subject)
    this.#memory = { state, there: true, text, subject, dirty: true }
    this.seq++
  }
  update(change: (state: unknown) => unknown): void {
    this.set(change(this.state))
  }
  clear(): void {
    this.inCommand('clear its state')
    this.#memory = { state: this.#initial(), there: false, text: undefined, subject: undefined, dirty: true }
    this.seq++
  }
  protected override note(type: string, data: object): string {
    const noted = encode({ type, ...data }, type, this.id)
    const { state, there, text } = this.#memory
    // The record has the state of this moment, whatever changes it in place before it is written.
    this.#memory = { ...this.#memory, text: there ? (text ?? encode(state, 'state', this.id)) : undefined, dirty: true }
    this.seq++
    return noted
  }

  protected override mark(turn: Turn): void {
    turn.before = this.#memory
  }
  protected override rollBack(turn: Turn): void {
    this.#memory = turn.before as Memory
    this.rollBackOwn(turn)
  }
  protected override settle(turn: Turn): void {
    if (this.seq === turn.seq) return
    super.settle(turn)
    this.hub.writer.wants(this)
  }

  override follow(other: Stated): void {
    this.#memory = other.#memory
  }

  protected override write({ scope, epoch }: Ownership, flight: Flight): Write | undefined {
    const { state, there, dirty, subject } = this.#memory
    if (!dirty) return undefined
    let { text } = this.#memory
    if (subject !== undefined) text = this.#sealed(subject, text!)
    if (there && text === undefined) return undefined
    const { id, durable: expected, seq: revision } = this
    const own = this.own?.toData() ?? {}
    const data =
      Object.keys(own).length === 0 ? text : JSON.stringify({ $: 'kept', ...(text === undefined ? {} : { s: text }), own: encode(own, id) })
    this.#memory = { state, there, text: undefined, subject, dirty: false }
    const time = this.hub.now()
    flight.bytes = data?.length ?? 0
    const timers = this.takeTimers(flight)
    return { write: 'state', id, expected, revision, version: this.#kept.version, data, subject, time, timers, scope, epoch }
  }
  /** The text, sealed; undefined where the key is not known yet, or never will be. */
  #sealed(subject: string, text: string): string | undefined {
    const { keyring, writer } = this.hub
    const secret = keyring.peek(subject)
    if (secret === 'erased') this.refused(new SubjectErased(subject))
    else if (secret !== undefined) return keyring.seal(secret, subject, text, this.#place())
    else
      this.hub
        .whenBack(() => keyring.load(subject))
        .then(
          () => writer.wants(this),
          (cause: unknown) => this.refused(cause),
        )
    return undefined
  }
  /** What a sealed state is bound to. */
  #place(): string {
    return `state of ${this.id}`
  }
  protected override accounted(flight: Flight): void {
    super.accounted(flight)
    flight.bytes = 0
  }
  protected override forget(): void {
    this.#memory = { ...this.#memory, text: undefined, dirty: false }
  }
  override get subjects(): ReadonlySet<string> {
    const { subject } = this.#memory
    return subject === undefined ? super.subjects : new Set([subject])
  }

  override async begin({ state: stored }: Head): Promise<undefined> {
    const { text, own } = parts(this.id, stored)
    this.#own = own
    const subject = stored?.subject
    const opened = text === undefined || subject === undefined || !isSealed(text) ? text : await this.hub.keyring.open(subject, text, this.#place())
    const there = opened !== undefined
    const state = there ? this.#read(opened, stored!.version) : this.#beginning()
    this.#memory = { state, there, text: undefined, subject: there ? subject : undefined, dirty: false }
    return undefined
  }
  #initial(): unknown {
    return stateOf(this.#kept.initial(this.key), 'initial', this.id)
  }
  /** Where it begins without a stored state. Fails with `RecoveryFailed`: it would fail the next time, too. */
  #beginning(): unknown {
    try {
      return this.#initial()
    } catch (cause) {
      throw new RecoveryFailed(this.id, undefined, 'its initial state could not be made', cause)
    }
  }
  #own: Belongings | undefined
  override fold(): void {}
  override complete(head: Head): void {
    this.begun(head.state?.revision ?? 0, this.#own)
    this.#own = undefined
  }

  /** What a stored state is today. Fails with `RecoveryFailed`. */
  #read(text: string, written: number): unknown {
    const { id } = this
    const { version, upcast, schema } = this.#kept
    if (written > version)
      throw new RecoveryFailed(id, undefined, `its state was written by version ${written}, and this is version ${version}; deploy the newer one`)
    let state: unknown
    try {
      state = decode(text)
      if (written < version && upcast !== undefined) state = upcast({ version: written, state })
    } catch (cause) {
      throw new RecoveryFailed(id, undefined, 'its state cannot be read', cause)
    }
    if (schema === undefined) return state
    const validated = validate(schema, state)
    if (!validated.fits) throw new RecoveryFailed(id, undefined, `of its state ${validated.why}. Turn it into what fits by upcast`, validated.cause)
    return validated.value
  }
}

/** The state's text, and what was kept beside it. */
function parts(id: string, stored: StoredState | undefined): { readonly text: string | undefined; readonly own: Belongings | undefined } {
  const data = stored?.data
  if (data === undefined || !data.startsWith(front)) return { text: data, own: undefined }
  try {
    const { s, own } = JSON.parse(data) as WithMore
    return { text: s, own: Belongings.from(decode(own) as object) }
  } catch (cause) {
    throw new RecoveryFailed(id, undefined, 'its record cannot be read', cause)
  }
}

/** One whose commands are functions. */
export class CommandedState extends Stated {
  readonly #commands: Readonly<Record<string, (ctx: never, message: never) => unknown>>
  constructor(id: string, hub: Hub, cell: Cell, kept: KeptState, commands: Readonly<Record<string, (ctx: never, message: never) => unknown>>) {
    super(id, hub, cell, kept)
    this.#commands = commands
  }
  protected override command(_ctx: ActorContext<never>, message: unknown): unknown {
    const type = (message as { readonly type?: unknown } | null)?.type
    const commands = this.#commands
    if (typeof type === 'string' && Object.hasOwn(commands, type)) return commands[type]!(this as never, message as never)
    this.unhandled()
    return undefined
  }
}
