// What can go wrong between machines. Each says what was tried, where, and what to do about it.

import { TroupeError } from '@troupe/core'
import { type Session, sessionText } from './session.ts'

/** A write of the registry found another revision than it expected. It has not been done. */
export class RegistryConflict extends TroupeError {
  readonly code = 'registry-conflict'
  readonly key: string
  constructor(key: string, expected: string) {
    super(`Cannot write ${key}: ${expected}. Read it again, and decide anew.`)
    this.key = key
  }
}

/** The registry did not answer. Whether a write was done is not known. */
export class RegistryUnavailable extends TroupeError {
  readonly code = 'registry-unavailable'
  constructor(what: string, why: string, cause?: unknown) {
    super(
      `Cannot ${what}: the registry did not answer (${why}). Whether a write was done is not known; read before trying again.`,
      cause === undefined ? undefined : { cause },
    )
  }
}

/** The engine cannot be used as it is; the message says what to change. */
export class EngineRefused extends TroupeError {
  readonly code = 'engine-refused'
  readonly engine: string
  /** `unreachable`, `credentials`, `permissions`, `too-old`, `max-payload`, `no-jetstream`, `not-ours`, `insecure`. */
  readonly why: string
  constructor(engine: string, why: string, text: string, cause?: unknown) {
    super(text, cause === undefined ? undefined : { cause })
    this.engine = engine
    this.why = why
  }
}

/** A node of that name lives. */
export class NodeNameTaken extends TroupeError {
  readonly code = 'node-name-taken'
  readonly node: string
  constructor(cluster: string, node: string, session: Session) {
    super(`Cannot join ${cluster} as ${node}: ${sessionText(session)} lives under that name. Stop it first, or give this node another name.`)
    this.node = node
  }
}

/** Two nodes have no version of the wire in common. */
export class VersionsApart extends TroupeError {
  readonly code = 'versions-apart'
  constructor(cluster: string, node: string, mine: string, other: Session, theirs: string) {
    super(
      `Cannot join ${cluster} as ${node}: this node speaks wire version ${mine}, ${sessionText(other)} speaks ${theirs}. ` +
        'Upgrade in steps of one version.',
    )
  }
}

/** Two nodes have different leases: the one with the shorter would take the other for lost. */
export class LeaseDiffers extends TroupeError {
  readonly code = 'lease-differs'
  constructor(cluster: string, node: string, mine: number, other: Session, theirs: number) {
    super(
      `Cannot join ${cluster} as ${node}: its lease is ${mine} ms, and that of ${sessionText(other)} ${theirs} ms. Give all nodes the same; it changes only where none is up.`,
    )
  }
}

/** Two nodes have different limits for messages: what one sends the other would refuse. */
export class MessageLimitDiffers extends TroupeError {
  readonly code = 'message-limit-differs'
  constructor(cluster: string, node: string, mine: number, other: Session, theirs: number) {
    super(
      `Cannot join ${cluster} as ${node}: its maxMessageBytes is ${mine}, and that of ${sessionText(other)} is ${theirs}. Give all nodes the same; it changes only where none is up.`,
    )
  }
}

/** A session has ended: its node left, was stopped, or was not heard of for its lease. */
export class NodeLost extends TroupeError {
  readonly code = 'node-lost'
  readonly session: Session
  constructor(session: Session, why: string) {
    super(`${sessionText(session)} was lost (${why}). What was sent to it and not acknowledged is counted as unknown.`)
    this.session = session
  }
}

/** The connection to a node that lives broke: what was under way may have arrived or not. */
export class ConnectionLost extends TroupeError {
  readonly code = 'connection-lost'
  readonly session: Session
  constructor(session: Session, why: string) {
    super(
      `The connection to ${sessionText(session)} was lost (${why}). What was under way is counted as unknown; a new one begins with the next message.`,
    )
    this.session = session
  }
}

/** The ledger of a cluster could not be added up: not every node answered. */
export class LedgerIncomplete extends TroupeError {
  readonly code = 'ledger-incomplete'
  /** The nodes that did not answer. */
  readonly silent: readonly string[]
  constructor(silent: readonly string[], ms: number) {
    super(`The ledger of the cluster is not complete: ${silent.join(', ')} did not answer within ${ms} ms. Ask again when it is back, or has ended.`)
    this.silent = silent
  }
}

/** Nodes that have a kind of sharded actors do not agree on its settings. */
export class KindDiffers extends TroupeError {
  readonly code = 'kind-differs'
  readonly kind: string
  /** The node that was refused. */
  readonly node: string
  /** Nodes that have the kind, three at most. */
  readonly others: readonly string[]
  constructor(kind: string, node: string, mine: string, others: readonly string[], theirs: string) {
    super(
      `Cannot have ${kind} on ${node}: it has ${mine} there, and ${theirs} on ${namesOf(others)}. Use the same everywhere; that changes only while no node has the kind, or under another name.`,
    )
    this.kind = kind
    this.node = node
    this.others = others
  }
}

/** No node has actors of a kind: a question to one of them has nobody to go to. */
export class KindNotHosted extends TroupeError {
  readonly code = 'kind-not-hosted'
  readonly kind: string
  constructor(cluster: string, kind: string, role: string | undefined) {
    const nobody = role === undefined ? `no node of ${cluster}` : `no node of ${cluster} with the role ${role}`
    super(`Cannot ask an actor of ${kind}: ${nobody} has registered ${kind}. Start a node that does${role === undefined ? '' : ', with that role'}.`)
    this.kind = kind
  }
}

/** A node has another journal than those that have a persistent kind, or none: after a failover its actors would begin with nothing. */
export class JournalDiffers extends TroupeError {
  readonly code = 'journal-differs'
  readonly kind: string
  /** The node that was refused. */
  readonly node: string
  /** Nodes that have the kind, three at most. */
  readonly others: readonly string[]
  constructor(kind: string, node: string, others: readonly string[], theirs: boolean, ours: boolean) {
    const names = namesOf(others)
    const why = !ours
      ? `it keeps nothing there, and its state in a journal on ${names}`
      : theirs
        ? `it keeps its state in another journal there than on ${names}`
        : `it keeps its state in a journal there, and nothing on ${names}`
    super(
      `Cannot have ${kind} on ${node}: ${why}. Say persistent on all nodes alike, and give all the same journal, such as one PostgreSQL; an LMDB directory is for one machine.`,
    )
    this.kind = kind
    this.node = node
    this.others = others
  }
}

/** This node may no longer have the actors of a kind: another may have them already. */
export class OwnershipLost extends TroupeError {
  readonly code = 'ownership-lost'
  readonly kind: string
  constructor(kind: string, cause: unknown) {
    super(`This node has lost its actors of ${kind}: it is no member of the cluster any more.`, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}

/** This node's own session is over: others have recorded its end. */
export class SessionEnded extends TroupeError {
  readonly code = 'session-ended'
  readonly session: Session
  constructor(session: Session, why: string) {
    super(`The session ${sessionText(session)} of this node has ended (${why}). Join again for a new one.`)
    this.session = session
  }
}

function namesOf(nodes: readonly string[]): string {
  return nodes.length === 0 ? 'the nodes that have it' : nodes.join(', ')
}
