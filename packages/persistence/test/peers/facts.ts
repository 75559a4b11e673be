// The cases of Pekko's persistence-typed suites that state something about every journal, and the test that has each fact here.

import { absent, covered, differs, kept, type Suite, suite } from '../../../core/test/peers/facts.ts'

const waits = 'Commands are stashed while events are written'

export const pekkoPersistence: Readonly<Record<string, Suite>> = {
  EventSourcedBehaviorSpec: suite(
    kept('replay stored events', 'persist then stop', 'handle scheduled message arriving before recovery completed'),
    covered('gate.test.ts', 'P1, P4: an answer leaves when what it saw is durable', 'persist an event', 'persist an event thenReply'),
    covered(
      'setup.test.ts',
      'the signal handler of a setup hears what a persistent actor hears',
      'handle Terminated signal',
      'handle receive timeout',
    ),
    covered('stopping-effects.test.ts', 'the command stops that registered them', 'persist(All) then stop', 'chainable side effects with events'),
    covered(
      'gate.test.ts',
      'after runs once all is durable, and may do what a command may not',
      'chainable side effects without events',
      'chainable side effects when doing nothing (Effect.none)',
    ),
    covered('setup.test.ts', 'a setup may return a kind', 'work when wrapped in other behavior', 'wrap persistent behavior in tap'),
    covered('reading.test.ts', 'give the events of a kind, of a tag, or all', 'tag events', 'tag events based on state'),
    covered('recovery.test.ts', 'a journal that does not answer ends the start after recovery.timeout', 'fail after recovery timeout'),
    covered('timers.test.ts', 'that became due while nobody was there fire at once', 'handle scheduled message arriving after recovery completed'),
    covered(
      'patience.test.ts',
      'an actor whose commands throw again and again',
      'not wrap a failure caused by command stashed while recovering in a journal failure',
    ),
    covered(
      'gate.test.ts',
      'a second actor for an id, a reentrant one, an own startTimeout, a system without a journal',
      'fail fast if default journal plugin is not defined',
      'fail fast if given journal plugin is not defined',
    ),
    covered(
      'impure.test.ts',
      'a key, a kind or a subject with half a pair of surrogates is refused',
      'fail fast if persistenceId is null',
      'fail fast if persistenceId is empty',
    ),
    covered('contract/states.ts', 'ids are listed in order, by kind, page by page, and counted', 'allow enumerating all ids'),
    covered('recovery.test.ts', 'P2, P3: at every event, from any snapshot', 'adhere Recovery strategy with SnapshotSelectionCriteria'),
    absent('recovery is never switched off', 'adhere default and disabled Recovery strategies'),
    absent('a read filters nothing out', 'exclude FilteredEvent in replay of persisted events'),
    absent('logging stores nothing', 'stop after logging (no persisting)'),
    absent(
      'snapshots are kept in the journal',
      'warn if default snapshot plugin is not defined',
      'fail fast if given snapshot plugin is not defined',
    ),
  ),
  EventSourcedBehaviorFailureSpec: suite(
    kept('restart supervisor strategy if command handler throws'),
    covered(
      'patience.test.ts',
      'one whose start fails is tried again after pauses that grow',
      'restart with backoff for recovery',
      'signal RecoveryFailure when replay fails',
    ),
    covered(
      'hostile.test.ts',
      'what is wrong with how stored events are read ends the start by name',
      'signal RecoveryFailure when event handler throws during replay',
      'handle exceptions from RecoveryFailed signal handler',
      'fail recovery if exception from RecoveryCompleted signal handler',
    ),
    covered('gate.test.ts', 'P9: a write that is refused rejects what waited for it', 'restart with backoff', 'handles rejections'),
    covered(
      'stopping-effects.test.ts',
      'an effect throws: it is logged, and the next one runs',
      'stop (default supervisor strategy) if side effect callback throws',
    ),
    covered('schema.test.ts', 'what the schema refuses is not stored', 'not accept wrong event, before persisting it'),
    differs(
      'A command that throws stops its actor',
      'stop (default supervisor strategy) if command handler throws',
      'stop (default supervisor strategy) if signal handler throws',
    ),
  ),
  EventSourcedBehaviorRetentionSpec: suite(
    covered(
      'recovery.test.ts',
      'a snapshot is of what is durable, is kept beside the commands',
      'snapshot every N sequence nrs',
      'snapshot every N sequence nrs when persisting multiple events',
    ),
    covered(
      'snapshot-when.test.ts',
      'a snapshot is taken after the event that asks for it',
      'snapshot via predicate',
      'check all events for snapshot in PersistAll',
      'be possible to snapshot every event',
    ),
    covered('contract/snapshots.ts', 'the last two snapshots are kept', 'delete snapshots automatically, based on criteria'),
    covered(
      'retention.test.ts',
      'keepEvents: events before the last snapshot but one go by themselves',
      'optionally delete both old events and snapshots',
      'be possible to combine snapshotWhen and retention criteria',
      'be possible to combine snapshotWhen and retention criteria withDeleteEventsOnSnapshot',
      'be possible to snapshot every event withDeleteEventsOnSnapshot',
    ),
    absent('a snapshot that is missing is taken at the next event that is due', 'snapshot on recovery if expected snapshot is missing'),
  ),
  EventSourcedBehaviorStashSpec: suite(
    kept('unstash in right order'),
    covered(
      'gate.test.ts',
      'a question leaves when all is durable, and how it ended comes back as a message',
      'stash and unstash',
      'handle mix of stash, persist and unstash',
      'handle many stashed',
      'unstash messages after stashed GetState',
    ),
    covered(
      'gate.test.ts',
      'in flight is bounded: at 1,000 events an actor takes no further message',
      'discard when stash has reached limit with default dropped setting',
      'discard when custom stash buffer has reached limit with default dropped setting',
      'fail when stash has reached limit if configured to fail',
    ),
    covered(
      'gate.test.ts',
      'stop leaves after what is in flight',
      'stop from PoisonPill even though user stash is not empty',
      'stop from PoisonPill after unstashing completed',
      'stop from PoisonPill after recovery completed',
    ),
    differs(waits, 'discard internal stash when restarted due to thrown exception', 'preserve internal stash when persist failed'),
    differs('A restart empties the stash', 'discard user stash when restarted due to thrown exception', 'preserve user stash when persist failed'),
  ),
  EventSourcedStashOverflowSpec: suite(kept('not cause stack overflow')),
  ManyRecoveriesSpec: suite(kept('be able to recover without overloading')),
  RecoveryPermitterSpec: suite(
    covered(
      'recovery.test.ts',
      'many actors are read together, within permits; waiting for one is no part of the timeout',
      'grant permits up to the limit',
      'grant recovery when all permits not used',
      'delay recovery when all permits used',
      'return permit when actor is pre-maturely terminated before holding permit',
      'return permit when actor is pre-maturely terminated when holding permit',
      'return permit when actor throws from RecoveryCompleted',
    ),
  ),
  DurableStateBehaviorSpec: suite(
    covered(
      'styles.test.ts',
      'is kept as a whole; changes made while one is written are one write',
      'persist and update state',
      'handle commands sequentially',
    ),
    absent('a state is set, not removed; erasing a subject removes it', 'delete state'),
  ),
}
