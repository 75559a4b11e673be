// The features of persistent actors that one of them can use at the same time, and the test of each pair.

import type { FeaturePairs } from './pairs.ts'

const pairsFile = 'feature-pairs.test.ts'
const readsEvents = 'A projection reads stored events, whatever became of the actor that wrote them.'

export const persistence: FeaturePairs = {
  folder: 'packages/persistence/test',
  features: {
    gate: 'what a command sends leaves when its events are stored',
    recovery: 'state from events, starts that fail',
    snapshots: 'states that recovery begins with',
    timers: 'durable timers',
    stops: 'stop, kill, passivation',
    effects: 'ctx.after',
    retention: 'keepEvents, trimEvents',
    projections: 'readers of events',
    delivery: 'ctx.deliver to another persistent actor',
    schema: 'schemas of events and states',
    erasure: 'subjects and their keys',
  },
  pairs: {
    'gate × recovery': ['gate.test.ts', 'an outcome that is not known: the epoch is raised before anything is read'],
    'gate × snapshots': ['gate.test.ts', 'a snapshot under load is of the first state that became durable, and not put off for ever'],
    'gate × timers': ['timers.test.ts', 'a timer that is not durable yet does not fire, and none is armed by a write that failed'],
    'gate × stops': ['gate.test.ts', 'stop leaves after what is in flight, and an orderly stop from outside lets out what is held'],
    'gate × effects': [
      'gate.test.ts',
      'P4: after sees nothing that is not durable, though commands ran since; where their write fails it comes with the next incarnation',
    ],
    'gate × retention': ['retention.test.ts', 'deletes what a snapshot stands for, while the actor runs; the state and the numbers go on'],
    'gate × projections': [
      'trouble.test.ts',
      'P12: a projection and its place are stored in one transaction: killed, failing and begun anew it has each event once',
    ],
    'gate × delivery': [
      'delivery.test.ts',
      'what was delivered while nobody was there arrives later, once, also after the sender began anew; nothing of a command that threw does',
    ],
    'gate × schema': ['schema.test.ts', 'a live actor has what it will have after a restart: the value that the schema makes'],
    'gate × erasure': ['erasure.test.ts', 'a subject that was erased elsewhere fails the write that finds out, and nothing of it is stored'],
    'recovery × snapshots': ['recovery.test.ts', 'P2, P3: at every event, from any snapshot, what recovers is what was; run says the same'],
    'recovery × timers': ['timers.test.ts', 'that became due while nobody was there fire at once, after a restart too'],
    'recovery × stops': ['patience.test.ts', 'one whose start fails is tried again after pauses that grow, and can be stopped meanwhile'],
    'recovery × effects': ['stopping-effects.test.ts', 'an effect that is left to the next incarnation sees what is stored'],
    'recovery × retention': [
      'retention.test.ts',
      'where events are gone, a higher version reads what a snapshot of before stands for, by upcastState; otherwise the error says that',
    ],
    'recovery × projections': readsEvents,
    'recovery × delivery': [
      'delivery.test.ts',
      'what was delivered while nobody was there arrives later, once, also after the sender began anew; nothing of a command that threw does',
    ],
    'recovery × schema': ['recovery.test.ts', 'events of an earlier version become none, one or several of today, checked after that'],
    'recovery × erasure': [
      'erasure.test.ts',
      'events with a subject are sealed, others are not; all of it recovers; an erased subject is gone, and what was not its own is there',
    ],
    'snapshots × timers': [pairsFile, 'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once'],
    'snapshots × stops': ['rest.test.ts', 'one whose snapshot is kept while it writes does not come to rest before that is durable'],
    'snapshots × effects': 'An effect sees the state and cannot change it, so a snapshot is the same with it and without.',
    'snapshots × retention': ['retention.test.ts', 'refuses without a snapshot, beyond it, and past one of another version'],
    'snapshots × projections': readsEvents,
    'snapshots × delivery': [
      pairsFile,
      'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once',
    ],
    'snapshots × schema': [
      'recovery.test.ts',
      'a snapshot that cannot be read, or of another version, is not used: an earlier one, or all events, are; without events it is refused',
    ],
    'snapshots × erasure': [
      'erasure.test.ts',
      'events with a subject are sealed, others are not; all of it recovers; an erased subject is gone, and what was not its own is there',
    ],
    'timers × stops': ['timers.test.ts', 'wake an actor that sleeps, and one that never ran in this process'],
    'timers × effects': 'What a timer brings is a command as any other, whose effects are those of the gate.',
    'timers × retention': ['retention.test.ts', 'deletes what a snapshot stands for, while the actor runs; the state and the numbers go on'],
    'timers × projections': 'Timers are kept apart from events, which is all that a projection reads.',
    'timers × delivery': [pairsFile, 'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once'],
    'timers × schema': [pairsFile, 'a command whose event the schema refuses leaves no delivery, no timer and no effect'],
    'timers × erasure': [
      'erasure.test.ts',
      'a state with a subject is sealed; erased, it is as before its first change, and its revision and timers go on',
    ],
    'stops × effects': ['stopping-effects.test.ts', 'it is stopped from outside during the write, or when they wait for their turn'],
    'stops × retention': [pairsFile, 'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once'],
    'stops × projections': ['reading.test.ts', 'P12: sees each event once, in order per id, also when its handler fails, is killed, and begins anew'],
    'stops × delivery': [pairsFile, 'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once'],
    'stops × schema': 'A schema is asked within a command and within recovery, and an actor that stops does neither.',
    'stops × erasure': 'What an actor that stops has in memory goes with it, and the next start reads only what has its key.',
    'effects × retention': 'Retention deletes events, which an effect never reads: it has the state.',
    'effects × projections': 'An effect runs in the actor and a projection in one of its own, and neither hears of the other.',
    'effects × delivery': [pairsFile, 'a command whose event the schema refuses leaves no delivery, no timer and no effect'],
    'effects × schema': [pairsFile, 'a command whose event the schema refuses leaves no delivery, no timer and no effect'],
    'effects × erasure': ['stopping-effects.test.ts', 'the write fails: they do not run, and those of commands that are stored do'],
    'retention × projections': [
      'projection-retention.test.ts',
      'keepEvents deletes nothing that a projection has not handled, says who holds it back, and goes on when that has caught up',
    ],
    'retention × delivery': [
      pairsFile,
      'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once',
    ],
    'retention × schema': [
      'retention.test.ts',
      'refuses past a snapshot that is not what the events make, cannot be read, or whose events cannot be',
    ],
    'retention × erasure': ['retention.test.ts', 'does it for classes, and refuses what is neither, and events with subjects'],
    'projections × delivery': 'A delivery is a message between two actors and no event, so that no projection sees it.',
    'projections × schema': ['reading.test.ts', 'events of an earlier version are what they are today; two under one name are told apart'],
    'projections × erasure': ['erasure.test.ts', 'something may stand for what was erased; readers and projections are given that, or nothing'],
    'delivery × schema': [pairsFile, 'a command whose event the schema refuses leaves no delivery, no timer and no effect'],
    'delivery × erasure': 'A delivery is not sealed, as the guide says: erasing a subject leaves it as it is.',
    'schema × erasure': [pairsFile, 'a schema that refuses what stands for an erased event ends the start by name, and one that takes it does not'],
  },
}
