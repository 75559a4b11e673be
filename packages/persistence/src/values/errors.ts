// Every error of this package. Those of the store name the journal and where in it; those of an actor name its id.

import { TroupeError } from '@troupe/core'

/** A journal cannot be reached, or cannot be written: the remedy is outside, and trying again may help. */
export class JournalUnavailable extends TroupeError {
  readonly code = 'journal-unavailable'
  declare readonly journal: string
  constructor(journal: string, why: string, cause?: unknown) {
    super(`Journal ${journal} is not available: ${why}.`, cause === undefined ? undefined : { cause })
    this.journal = journal
  }
}

/** A journal cannot be used as it is: another version, a foreign file, a schema that is missing. Trying again is of no use. */
export class JournalRefused extends TroupeError {
  readonly code = 'journal-refused'
  declare readonly journal: string
  constructor(journal: string, why: string, cause?: unknown) {
    super(`Journal ${journal} cannot be used: ${why}.`, cause === undefined ? undefined : { cause })
    this.journal = journal
  }
}

/** A record cannot be read, or is not what was written. Nothing is guessed: what depends on it is refused. */
export class JournalDamaged extends TroupeError {
  readonly code = 'journal-damaged'
  /** File or table, and record. */
  declare readonly where: string
  constructor(journal: string, where: string, problem: string, cause?: unknown) {
    super(
      `Journal ${journal} is damaged at ${where}: ${problem}. Restore that record from a backup; verify() lists all that is damaged.`,
      cause === undefined ? undefined : { cause },
    )
    this.where = where
  }
}

/** Another one has become the owner of a scope: what this one still writes is not stored. */
export class FenceLost extends TroupeError {
  readonly code = 'fence-lost'
  declare readonly scope: string
  declare readonly epoch: number
  constructor(scope: string, tried: number, present: number) {
    super(`Cannot own ${JSON.stringify(scope)} in epoch ${tried}: it is in epoch ${present}, raised by another. One system at a time writes a scope.`)
    this.scope = scope
    this.epoch = present
  }
}

/** A value that cannot be kept as it is. */
export class NotStorable extends TroupeError {
  readonly code = 'not-storable'
  /** Where in the value. */
  declare readonly where: string
  constructor(where: string, why: string) {
    super(
      `Cannot store ${where}: ${why}. Events and states are plain data: objects, arrays, text, numbers, big integers, dates, maps, sets and bytes.`,
    )
    this.where = where
  }
}

/** The schema of a kind refuses what a command persists. Nothing of the command is stored; the actor continues as after any command that throws. */
export class SchemaMismatch extends TroupeError {
  readonly code = 'schema-mismatch'
  declare readonly id: string
  /** `event` and its type, or `state`. */
  declare readonly what: string
  constructor(id: string, what: string, why: string, cause?: unknown) {
    super(
      `Cannot persist ${what} of ${id}: ${why}. Nothing of the command is stored, for the actor could not read it again: correct the command or the schema.`,
      cause === undefined ? undefined : { cause },
    )
    this.id = id
    this.what = what
  }
}

/** An event of more bytes than `maxEventBytes` allows. It was not encoded, and nothing of its command is stored. */
export class EventTooLarge extends TroupeError {
  readonly code = 'event-too-large'
  /** The event, and the id it is of. */
  declare readonly where: string
  declare readonly maxEventBytes: number
  constructor(where: string, most: number) {
    super(
      `Cannot store ${where}: it has more than ${most} bytes. Keep large data elsewhere and its address in the event, or raise maxEventBytes of persistence().`,
    )
    this.where = where
    this.maxEventBytes = most
  }
}

/** What a command persisted was not stored, for sure; nothing that it would have sent has left. The actor begins anew from what is stored. */
export class PersistFailed extends TroupeError {
  readonly code = 'persist-failed'
  declare readonly id: string
  constructor(id: string, why: string, cause?: unknown) {
    super(
      `Cannot persist for ${id}: ${why}. Nothing of it is stored; the actor begins anew from what is.`,
      cause === undefined ? undefined : { cause },
    )
    this.id = id
  }
}

/** Whether what a command persisted is stored is not known; nothing that it would have sent has left. The actor finds out by beginning anew. */
export class PersistUnknown extends TroupeError {
  readonly code = 'persist-unknown'
  declare readonly id: string
  constructor(id: string, cause: unknown, why = 'the journal did not say. The actor reads it, after nothing more can arrive') {
    super(`Cannot tell whether what ${id} persisted is stored: ${why}.`, cause === undefined ? undefined : { cause })
    this.id = id
  }
}

/** Another system has taken over the journal: this actor stops and is not restarted. */
export class PersistFenced extends TroupeError {
  readonly code = 'persist-fenced'
  declare readonly id: string
  constructor(id: string, scope: string) {
    super(`${id} stops: another system has become the owner of ${JSON.stringify(scope)} in this journal. One system at a time writes a scope.`)
    this.id = id
  }
}

/** Two actors of one system want the same id. */
export class IdInUse extends TroupeError {
  readonly code = 'id-in-use'
  declare readonly id: string
  constructor(id: string, by: string) {
    super(`Cannot start a second actor for ${id}: ${by} is it. Keep its ref, or stop it first and wait for its end.`)
    this.id = id
  }
}

/** What is stored of an id cannot be made a state of; nothing is guessed. Trying again is of no use. */
export class RecoveryFailed extends TroupeError {
  readonly code = 'recovery-failed'
  declare readonly id: string
  /** The event at which it failed, where it was one. */
  declare readonly seq: number | undefined
  constructor(id: string, seq: number | undefined, why: string, cause?: unknown) {
    super(`Cannot recover ${id}${seq === undefined ? '' : ` at event ${seq}`}: ${why}.`, cause === undefined ? undefined : { cause })
    this.id = id
    this.seq = seq
  }
}

/** A recovery made no progress for so long. */
export class RecoveryStalled extends TroupeError {
  readonly code = 'recovery-stalled'
  declare readonly id: string
  constructor(id: string, ms: number) {
    super(`The recovery of ${id} made no progress for ${ms} ms: the journal does not answer. Look at it, or raise recovery.timeout.`)
    this.id = id
  }
}

/** Another actor has moved a projection on: two run under one name. */
export class ProjectionMoved extends TroupeError {
  readonly code = 'projection-moved'
  declare readonly projection: string
  constructor(projection: string) {
    super(`Projection ${projection} was moved on by another actor. Run it once: what it did is what the other did too.`)
    this.projection = projection
  }
}

/** A projection needs events that were deleted: its view would be wrong without them. */
export class EventsDeleted extends TroupeError {
  readonly code = 'events-deleted'
  declare readonly projection: string
  declare readonly id: string
  /** The first event that is missing. */
  declare readonly seq: number
  constructor(projection: string, id: string, seq: number) {
    super(
      `Projection ${projection} needs event ${seq} of ${id}, which was deleted. To make its view of what is left, empty the view, remove the projection with removeProjection or troupe journal projections --remove, and start it with onDeleted: 'skip'; for all of it, restore a backup.`,
    )
    this.projection = projection
    this.id = id
    this.seq = seq
  }
}

/** The key of a subject was erased for ever: nothing more can be kept of it. */
export class SubjectErased extends TroupeError {
  readonly code = 'subject-erased'
  declare readonly subject: string
  constructor(subject: string) {
    super(
      `Cannot keep anything of the subject ${JSON.stringify(subject)}: its key was erased, for ever. Give a person who comes back another subject.`,
    )
    this.subject = subject
  }
}

/** What whoever asked is told of a write that was surely not stored: that it is for a subject that is erased, whoever found out. */
export function failedWith(id: string, why: string, cause: unknown): PersistFailed | SubjectErased {
  return cause instanceof SubjectErased ? cause : new PersistFailed(id, why, cause)
}

/** Events are not deleted, because what they stand for could not be told afterwards. */
export class RetentionRefused extends TroupeError {
  readonly code = 'retention-refused'
  declare readonly id: string
  constructor(id: string, why: string, cause?: unknown) {
    super(`Events of ${id} are not deleted: ${why}.`, cause === undefined ? undefined : { cause })
    this.id = id
  }
}
