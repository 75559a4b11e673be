// Bugs of persistence, as patches on a copy of `packages`: each is simulated with the scenarios of persistence until a promise
// breaks. As with the classics, a patch that no longer fits is an error, not a pass.

const gated = 'persistence/src/gate/gated.ts'
const held = 'persistence/src/gate/held.ts'
const effect = 'persistence/src/gate/effect.ts'
const sourced = 'persistence/src/gate/sourced.ts'
const writer = 'persistence/src/journal/writer.ts'
const hub = 'persistence/src/gate/hub.ts'
const store = 'persistence/src/journal/memory-store.ts'
const folding = 'persistence/src/gate/folding.ts'
const entity = 'persistence/src/gate/entity.ts'
const stated = 'persistence/src/gate/stated.ts'
const belongings = 'persistence/src/gate/belongings.ts'
const timers = 'persistence/src/gate/timers.ts'
const codec = 'persistence/src/values/codec.ts'
const waking = 'persistence/src/gate/waking.ts'
const trimming = 'persistence/src/gate/trimming.ts'
const keyring = 'persistence/src/gate/keyring.ts'
const recovery = 'persistence/src/gate/recovery.ts'
const appending = 'persistence/src/journal/postgres/appending.ts'
const finding = 'persistence/src/journal/postgres/finding.ts'
const placedRuns = 'persistence/src/journal/postgres/runs.ts'
const replaying = 'persistence/src/journal/postgres/replaying.ts'
const runText = 'persistence/src/journal/postgres/run-text.ts'
const positions = 'persistence/src/journal/postgres/positions.ts'
const connection = 'persistence/src/journal/postgres/connection.ts'
const postgres = 'persistence/src/journal/postgres/postgres.ts'
const sqliteWrites = 'persistence/src/journal/sqlite/sqlite-writes.ts'
const sqliteReads = 'persistence/src/journal/sqlite/sqlite-reads.ts'
const sqliteWriter = 'persistence/src/journal/sqlite/sqlite-writer.ts'
const sqlitePacks = 'persistence/src/journal/sqlite/sqlite-packs.ts'
const subjectKeys = 'persistence/src/journal/sqlite/subject-keys.ts'
const sqliteEvents = 'persistence/src/journal/sqlite/sqlite-events.ts'
const sqliteOpen = 'persistence/src/journal/sqlite/sqlite-open.ts'

const inTest = (file, name) => ({ file: `packages/persistence/test/${file}`, name })

export const persistence = [
  {
    name: 'an actor comes to rest while something of it is under way',
    test: inTest('rest.test.ts', 'one whose snapshot is kept while it writes does not come to rest before that is durable'),
    file: gated,
    edits: [['if (this.durable === this.seq && this.latched === undefined && this.flight', 'if (this.latched === undefined && this.flight']],
  },
  {
    name: 'a watched actor loses its watchers when it comes to rest',
    test: inTest('rest.test.ts', 'one that is watched keeps what that takes, and its watchers hear of its end'),
    file: 'core/src/cell/turn/extras.ts',
    edits: [["if (name !== 'runningSince' && extras", "if (name !== 'runningSince' && name !== 'watchers' && extras"]],
  },
  {
    name: 'what leaves does not wait for the journal',
    file: held,
    edits: [['all[this.#released]!.seq <= durable', 'all[this.#released]!.seq <= durable + 1_000_000']],
  },
  {
    name: 'a read answers at once from what is not durable',
    file: gated,
    edits: [
      [
        '    this.settle(turn)\n    this.#release()\n',
        '    this.settle(turn)\n    if (this.seq === turn.seq && this.flight?.held?.release(this.seq, this.seq, this.cell) === true) this.flight.held = undefined\n    this.#release()\n',
      ],
    ],
  },
  {
    name: 'a throw is told before what it saw is durable',
    file: gated,
    edits: [['return this.durable === this.seq ? fail(cause)', 'return this.durable <= this.seq ? fail(cause)']],
  },
  {
    name: 'the events of a command that threw are kept',
    file: gated,
    edits: [['    this.seq = turn.seq\n    this.rollBack(turn)\n', '']],
  },
  {
    name: 'what a command that threw had told leaves',
    file: gated,
    edits: [['const dropped = this.flight?.held?.dropPresent() ?? []', 'const dropped: never[] = []']],
  },
  {
    name: 'a write that was refused is forgotten, and the actor goes on',
    file: gated,
    edits: [
      [
        "        return this.#fail(failedWith(this.id, 'the journal refused it', outcome.cause))",
        '        this.flying().submitted = this.durable\n        return',
      ],
    ],
  },
  {
    name: 'an outcome that is not known counts as stored',
    file: gated,
    edits: [
      [
        '        return this.#fail(new PersistUnknown(this.id, outcome.cause))',
        '        return outcome.cause === undefined ? this.#fail(new PersistUnknown(this.id, outcome.cause)) : this.#stored()',
      ],
    ],
  },
  {
    name: 'an actor whose memory is wrong goes on with it',
    file: gated,
    edits: [
      [
        '    if (this.latched !== undefined) {\n      const recovered',
        '    if (this.latched !== undefined) this.unlatch(this.seq)\n    if (this.latched !== undefined) {\n      const recovered',
      ],
    ],
  },
  {
    name: 'a system that was fenced takes the journal back',
    scenario: 'persistence taken over',
    file: writer,
    edits: [
      [
        "if (outcomes.some(({ is }) => is === 'fenced')) this.#host.lost()",
        "if (outcomes.some(({ is }) => is === 'fenced')) await this.#back(opened)",
      ],
      [
        '  #pause(ms: number)',
        '  async #back(opened: { readonly journal: Journal; epoch: number }): Promise<void> {\n    const now = await opened.journal.epoch(this.#host.scope)\n    await opened.journal.raise(this.#host.scope, now + 1)\n    opened.epoch = now + 1\n  }\n  #pause(ms: number)',
      ],
    ],
  },
  {
    name: 'a group is acknowledged before it is flushed',
    file: writer,
    edits: [
      [
        'const outcomes = await group.outcomes!',
        "this.#tell(group, group.writes.map((): Outcome => ({ is: 'stored' })))\n      const outcomes = await group.outcomes!",
      ],
    ],
  },
  {
    name: 'a group begins with actors that were not told of the last one',
    test: {
      file: 'packages/persistence/src/journal/writer.test.ts',
      name: 'the next group is with a journal that hands over before the last one is told',
    },
    file: writer,
    edits: [['      if (this.#under.has(actor.id)) continue\n', '']],
  },
  {
    name: 'a group begins although the last one was not stored',
    test: {
      file: 'packages/persistence/src/journal/writer.test.ts',
      name: 'no group is with the journal while those of the last one are told of a failure',
    },
    file: writer,
    edits: [["const next = outcomes.every(({ is }) => is === 'stored') ? await", 'const next = outcomes.length > 0 ? await']],
  },
  {
    name: 'the epoch is not raised after an outcome that is not known',
    test: inTest('gate.test.ts', 'an outcome that is not known: the epoch is raised before anything is read'),
    file: writer,
    edits: [["if (outcomes.some(({ is }) => is === 'unknown')) this.#raise(opened)", 'if (outcomes.length < 0) this.#raise(opened)']],
  },
  {
    name: 'the outcome of one write is told to all of its group',
    test: inTest('gate.test.ts', 'of a group each actor hears what became of its own write'),
    file: writer,
    edits: [['actor.outcome(writes[i]!, outcomes[i]!)', 'actor.outcome(writes[i]!, outcomes[0]!)']],
  },
  {
    name: 'what was raised is not written with',
    test: inTest('gate.test.ts', 'an outcome that is not known: the epoch is raised before anything is read'),
    file: writer,
    edits: [['          opened.epoch = next\n', '']],
  },
  {
    name: 'reads do not wait until the epoch is raised',
    test: inTest('gate.test.ts', 'while an epoch is being raised nothing is read and nothing is written'),
    file: hub,
    edits: [['    while (this.writer.raising !== undefined) await this.writer.raising\n', '']],
  },
  {
    name: 'an actor recovers while a write of its id is under way',
    test: inTest('gate.test.ts', 'a kill drops what is held; the next actor of that id waits for the write, and sees it'),
    file: hub,
    edits: [['if (present !== actor && this.#isFree(present)) break', 'if (present !== actor) break']],
  },
  {
    name: 'the journal is read before it is owned',
    scenario: 'persistence taken over',
    file: hub,
    edits: [['        await journal.raise(this.scope, epoch)\n        return { journal, epoch }', '        return { journal, epoch: epoch - 1 }']],
  },
  {
    name: 'a fence lets older epochs through',
    scenario: 'persistence taken over',
    file: store,
    edits: [
      [
        '    if (!this.#owns(write)) return fenced\n    const kept = this.#of(write.id)\n    if (write',
        '    const kept = this.#of(write.id)\n    if (write',
      ],
    ],
  },
  {
    name: 'a snapshot is of what is not durable',
    file: sourced,
    edits: [
      ['flight.snapshot !== undefined && flight.snapshot.seq <= this.durable', 'flight.snapshot !== undefined'],
      ['due !== undefined && due.seq <= this.durable;', 'due !== undefined;'],
      ['    this.hub.writer.wants(this)\n', '    void this.#save(flight)\n    this.hub.writer.wants(this)\n'],
    ],
  },
  {
    name: 'a snapshot is encoded when it is saved, and has what later events changed in place',
    file: sourced,
    edits: [
      [
        'flight.snapshot = { seq, text: snapshotText(id, this.current, this.own?.toData() ?? {}) }',
        'flight.snapshot = { seq, text: id.slice(0, 0) }',
      ],
      ['await this.#saveOne(due.seq, due.text)', 'await this.#saveOne(due.seq, snapshotText(this.id, this.current, this.own?.toData() ?? {}))'],
    ],
  },
  {
    name: 'a command that threw leaves what it changed in place, where supervision resumes',
    file: gated,
    edits: [['if (inPlace) this.latched ??=', 'if (inPlace && this.ended) this.latched ??=']],
  },
  {
    name: 'a snapshot that is due during another save waits for the next write',
    test: inTest('in-place-state.test.ts', 'a snapshot that becomes due while another is saved follows it'),
    file: sourced,
    edits: [
      ['due !== undefined && due.seq <= this.durable; due = flight.snapshot)', 'due !== undefined && due.seq <= this.durable; due = undefined)'],
    ],
  },
  {
    name: 'a durable state is encoded when it is written',
    test: inTest('in-place-state.test.ts', 'also where a timer is what the record is written for'),
    file: stated,
    edits: [
      [
        "text: there ? (text ?? encode(state, 'state', this.id)) : undefined, dirty: true",
        'text: there && state === undefined ? undefined : text, dirty: true',
      ],
      ['    let { text } = this.#memory\n', "    let text = there ? (this.#memory.text ?? encode(state, 'state', this.id)) : undefined\n"],
    ],
  },
  {
    name: 'nobody looks for states that are changed in place',
    test: inTest('in-place-state.test.ts', 'in the simulator, unless it is told not to'),
    file: hub,
    edits: [['options.immutableCheck ?? this.#core.runtime.choices !== undefined', 'options.immutableCheck ?? false']],
  },
  {
    name: 'the event after a snapshot is skipped',
    file: folding,
    edits: [['    folding.at = snapshot.seq\n', '    folding.at = snapshot.seq + 1\n']],
  },
  {
    name: 'the last event before a snapshot is applied twice',
    file: folding,
    edits: [['    folding.at = snapshot.seq\n', '    folding.at = snapshot.seq - 1\n']],
  },
  {
    name: 'a command is written in parts',
    file: sourced,
    edits: [
      [
        '    const events = flight.takeQueue()\n',
        '    const events = flight.queue.splice(0, 1)\n    if (flight.queue.length > 0) this.hub.writer.wants(this)\n',
      ],
    ],
  },
  {
    name: 'a write begins one too low',

    file: sourced,
    edits: [['first: this.durable + 1, events', 'first: Math.max(1, this.durable), events']],
  },
  {
    name: 'a state is written over another revision',
    test: inTest('styles.test.ts', 'is kept as a whole; changes made while one is written are one write; the gate is the same'),
    file: stated,
    edits: [['durable: expected, seq: revision } = this', 'durable, seq: revision } = this\n    const expected = Math.max(0, durable - 1)']],
  },
  {
    name: 'a state that a command threw on is kept',
    file: stated,
    edits: [['    this.#memory = turn.before as Memory\n', '']],
  },
  {
    name: 'a change while a state is written is forgotten',
    test: inTest('styles.test.ts', 'is kept as a whole; changes made while one is written are one write; the gate is the same'),
    file: stated,
    edits: [
      [
        '    super.accounted(flight)\n    flight.bytes = 0\n',
        '    super.accounted(flight)\n    this.#memory = { ...this.#memory, dirty: false }\n    flight.bytes = 0\n',
      ],
    ],
  },
  {
    name: 'a delivery has its effect as often as it arrives',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [['if (n === last + 1) {', 'if (n >= 1) {']],
  },
  {
    name: 'a delivery overtakes one that was lost',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [
      ['    if (n > last + 1) return undefined\n', ''],
      ['if (n === last + 1) {', 'if (n > last) {'],
    ],
  },
  {
    name: 'what was received is not noted with its effect',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [["      this.note('$got', { from, n })\n", '']],
  },
  {
    name: 'what was sent is not kept with its command',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [["    this.note('$sent', { to, n, message })\n", '']],
  },
  {
    name: 'a delivery of a command that threw leaves later',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [['    own.mail.unsend(seq)\n', '    void seq\n']],
  },
  {
    name: 'what a command that threw received counts as received',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [['    if (received !== undefined) own.mail.ungot(received)\n', '    void received\n']],
  },
  {
    name: 'a snapshot forgets what was not delivered',
    scenario: 'persistence deliveries',
    file: belongings,
    edits: [
      ['const [mail, timers] = [this.mail.toData(), this.alarms.toData()]', 'const [mail, timers] = [undefined as unknown, this.alarms.toData()]'],
    ],
  },
  {
    name: 'what was not acknowledged is not sent again',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [['for (const { to, n, message } of mail.due(this.durable)) this.hub.send(this, to, n, message)', 'void mail.due(this.durable)']],
  },
  {
    name: 'a sender that sleeps is not woken for its mail',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [['own.alarms.note(mailKey, waits ? this.now + this.hub.redeliverEvery : undefined)', 'void mailKey']],
  },
  {
    name: 'an answer to a sender that has gone to sleep is lost, and so is what it sent',
    scenario: 'persistence deliveries',
    file: entity,
    edits: [
      ['    if (own.mailNoted) this.hub.redelivery.posts(this)\n', ''],
      ['    if (!own.mail.empty) this.hub.redelivery.posts(this)\n', ''],
    ],
  },
  // Timers.
  // The index tells early, and the actor believes it.
  {
    name: 'a timer rings early',
    scenario: 'persistence timers',
    file: entity,
    edits: [
      ['const { now } = this\n    const alarm = due <= now ? ', 'const now = this.now + 100\n    const alarm = due <= now ? '],
      [
        '    own.mailNoted = !own.mail.empty\n',
        '    for (const { key, due } of own.alarms.overdue(this.now + 100)) this.cell.send(new Fired(this.key, key, due), ours)\n    own.mailNoted = !own.mail.empty\n',
      ],
    ],
  },
  {
    name: 'a timer rings as often as it is told',
    test: inTest('timers.test.ts', 'that became due while nobody was there fire at once, after a restart too'),
    file: entity,
    edits: [["      this.note('$untimed', { key: timer })\n      this.own!.alarms.remove(timer)\n", '']],
  },
  {
    name: 'a timer is removed in a record of its own, before its effect',
    scenario: 'persistence timers',
    file: entity,
    edits: [
      [
        '    return this.command(ctx, alarm.message)\n',
        '    const { cell, hub } = this\n    this.acted(() => cell.send(alarm.message, undefined))\n    return void [hub, ctx]\n',
      ],
    ],
  },
  {
    name: 'a timer that was moved rings at its old time',
    scenario: 'persistence timers',
    file: timers,
    edits: [['if (alarm === undefined || alarm.due !== due) return undefined', 'if (alarm === undefined) return undefined']],
  },
  {
    name: 'a timer of a command that threw stays set',
    test: inTest(
      'timers.test.ts',
      'fire when they are due and not before, once; one that was moved or cancelled, or set by a command that threw, does not',
    ),
    file: entity,
    edits: [['    own.alarms.rollBack()\n', '']],
  },
  {
    name: 'a snapshot forgets timers',
    scenario: 'persistence timers',
    file: belongings,
    edits: [
      ['const [mail, timers] = [this.mail.toData(), this.alarms.toData()]', 'const [mail, timers] = [this.mail.toData(), undefined as unknown]'],
    ],
  },
  {
    name: 'nobody looks for timers after an outcome that is not known',
    scenario: 'persistence timers',
    file: gated,
    edits: [['        if (write.timers.length > 0) this.hub.waking.noted(this.now)\n', '']],
  },
  {
    name: 'what was told and not done is not told again',
    test: inTest(
      'timers.test.ts',
      'are removed in the record of their effects: a command that throws, or a write that fails, leaves them to fire again',
    ),
    file: waking,
    edits: [['last === undefined ? Infinity : now + this.#patience()', 'Infinity']],
  },
  {
    name: 'timers of actors that sleep are not told',
    test: inTest('timers.test.ts', 'wake an actor that sleeps, and one that never ran in this process'),
    file: hub,
    edits: [['actor.cell.end !== undefined) this.#tell(id, new Fired(keyIn(id), key, due))', 'actor.cell.end !== undefined) return']],
  },

  {
    name: 'a command copies all timers of its actor before it changes one',
    test: inTest('timer-cost.test.ts', '20,000 timers of one actor cost at most'),
    file: timers,
    edits: [['  #keep(key: string): void {\n', '  #keep(key: string): void {\n    void new Map(this.#set)\n']],
  },
  {
    name: 'a snapshot of many timers is taken as often as one of few',
    test: inTest('timer-cost.test.ts', '20,000 timers of one actor cost at most'),
    file: sourced,
    edits: [['3 * (this.own?.size ?? 0)', '0 * (this.own?.size ?? 0)']],
  },
  {
    name: 'what a command that threw set is not taken back in order',
    test: inTest(
      'timers.test.ts',
      'fire when they are due and not before, once; one that was moved or cancelled, or set by a command that threw, does not',
    ),
    file: timers,
    edits: [
      [
        'for (let last = this.#undo.pop(); last !== undefined; last = this.#undo.pop()) {',
        'for (let last = this.#undo.shift(); last !== undefined; last = this.#undo.shift()) {',
      ],
    ],
  },
  {
    name: 'a timer that repeats sleeps for a year after the clock was ahead',
    test: inTest('timers.test.ts', 'whose next time was counted from a clock that was ahead'),
    file: timers,
    edits: [['return every !== undefined && due - now > every', 'return every !== undefined && due - now > every * 1e12']],
  },
  {
    name: 'nobody looks at timers when the clock is put back',
    test: { file: 'packages/persistence/src/gate/waking.test.ts', name: 'a clock that was ahead and is put back' },
    file: waking,
    edits: [['return this.#ahead < before - rewindMs', 'return this.#ahead < before - rewindMs * 1e12']],
  },

  // Retention.
  {
    name: 'events are deleted that a projection has not handled',
    scenario: 'persistence trimmed',
    file: trimming,
    edits: [['const target = held === undefined ? wanted : held.upTo', 'const target = wanted']],
  },
  {
    name: 'a projection goes on where events before it were deleted',
    test: inTest('projection-retention.test.ts', 'a projection from which events were deleted while it runs fails for good'),
    file: 'persistence/src/reading/projection.ts',
    edits: [['if (gap !== undefined) await missedEvents', 'if (gap !== undefined && gap.seq < 0) await missedEvents']],
  },
  {
    name: 'a projection that begins after a deletion does not say so',
    test: inTest('projection-retention.test.ts', 'a projection that begins after events were deleted fails for good'),
    file: 'persistence/src/journal/projections.ts',
    edits: [['if (gone !== undefined) await missedEvents', 'if (gone !== undefined && gone.id === query.kind) await missedEvents']],
  },
  {
    name: 'a projection that was removed goes on holding back events',
    test: inTest('projection-retention.test.ts', 'trimEvents waits for projections too'),
    file: 'persistence/src/operating/projections.ts',
    edits: [['[projection, readsPrefix + projection]', '[projection, readsPrefix]']],
  },
  {
    name: 'events are deleted past a snapshot that nobody compared',
    scenario: 'persistence trimmed',
    file: trimming,
    edits: [['  await verified(host, journal, definition, key, head, snapshots)\n', '  void [verified, key]\n']],
  },
  {
    name: 'events are deleted past the last snapshot',
    file: trimming,
    edits: [['  if (wanted > newest.seq) throw', '  if (wanted > head.seq) throw']],
    test: inTest('retention.test.ts', 'refuses without a snapshot, beyond it, and past one of another version'),
  },
  {
    name: 'the high-water mark is that of the events that are there',
    file: store,
    edits: [['    return this.deleted + this.events.length\n', '    return this.events.length === 0 ? 0 : this.deleted + this.events.length\n']],
    test: inTest('retention.test.ts', 'deletes what a snapshot stands for, while the actor runs; the state and the numbers go on'),
  },
  {
    name: 'a log that was deleted begins anew',
    file: folding,
    edits: [['    if (deleted > 0)\n', '    if (deleted > 0 && deleted < 0)\n']],
    test: inTest('recovery.test.ts', 'a snapshot that cannot be read, or of another version, is not used'),
  },
  {
    name: 'a snapshot that cannot be read ends a recovery',
    scenario: 'persistence trimmed',
    file: folding,
    edits: [
      [
        "'a snapshot cannot be read; an earlier one, or all events, are')\n      return undefined",
        "'a snapshot cannot be read; an earlier one, or all events, are')\n      throw cause",
      ],
    ],
  },
  // Schemas.
  {
    name: 'an event is stored that the schema refuses',
    file: sourced,
    edits: [
      [
        'const read = eventRead(definition, id, event, stored)',
        'const read = definition.version < 0 ? eventRead(definition, id, event, stored) : event',
      ],
    ],
  },
  {
    name: 'a durable state is stored that the schema refuses',
    file: stated,
    edits: [
      [
        "schema === undefined ? given : fitting(schema, text, 'state', this.id)",
        "schema === undefined || text !== '' ? given : fitting(schema, text, 'state', this.id)",
      ],
    ],
  },
  {
    name: 'a kind that a setup returned has the start timeout of its actor',
    test: inTest('setup.test.ts', 'a setup may return a kind'),
    file: 'persistence/src/gate/shell.ts',
    edits: [['    disarmStep(cell)\n', '    void disarmStep\n']],
  },
  // Recovery.
  {
    name: 'waiting for a permit counts as start time',
    file: recovery,
    edits: [
      [
        '      this.#queue.push(waiting)\n',
        '      this.#queue.push(waiting)\n      this.#host.after(this.#host.timeout, () => settle(waiting, new RecoveryStalled(actor.id, this.#host.timeout)))\n',
      ],
    ],
    test: inTest('recovery.test.ts', 'many actors are read together, within permits; waiting for one is no part of the timeout'),
  },
  {
    name: 'a record that cannot be read is passed over',
    test: inTest('recovery.test.ts', 'P8: what cannot be read is refused by name; nothing is guessed'),
    file: recovery,
    edits: [["      if ('damage' in part) throw part.damage\n", "      if ('damage' in part) return\n"]],
  },
  // Erasure.
  {
    name: 'what another system erased is acknowledged, and can never be read',
    file: 'persistence/src/journal/writer.ts',
    edits: [['const subjects = subjectsIn(writes)', 'const subjects = subjectsIn(writes.slice(0, 0))']],
    test: inTest('erasure.test.ts', 'what another system erased is refused though its key is still known here'),
  },
  {
    name: 'a delivery that is not acknowledged is never sent less often',
    file: 'persistence/src/gate/delivery.ts',
    edits: [['this.#left = this.#pause - 1', 'this.#left = 0']],
    test: inTest('delivery.test.ts', 'P10: a delivery whose command throws is tried less and less often'),
  },
  {
    name: 'a command that threw is waited for as a journal that failed',
    file: 'persistence/src/gate/patience.ts',
    edits: [["=== 'subject-erased')) return 0", "=== 'subject-erased') && now < 0) return 0"]],
    test: inTest('patience.test.ts', 'an actor whose commands throw again and again is there for everybody else'),
  },
  {
    name: 'a snapshot holds what an event is sealed for',
    file: sourced,
    edits: [['const data = subjects.length === 0 ? text : await', 'const data = subjects.length >= 0 ? text : await']],
    test: inTest('erasure.test.ts', 'events with a subject are sealed, others are not'),
  },
  {
    name: 'a key that is missing counts as erased',
    file: keyring,
    edits: [
      [
        "    if (found.is === 'none')\n      throw new JournalDamaged(\n        this.#host.name,\n        `the key of ${JSON.stringify(subject)}`",
        "    if (found.is === 'none') return 'erased'\n    if (found.is === 'erased' && found.is !== 'erased')\n      throw new JournalDamaged(\n        this.#host.name,\n        `the key of ${JSON.stringify(subject)}`",
      ],
    ],
    test: inTest('erasure.test.ts', 'a backup without its keys says so, and is not taken for an erased one'),
  },
  // Journals.
  {
    name: 'SQLite looks at the epoch once, and not in the transaction of the write',
    file: sqliteWrites,
    edits: [
      [
        '  owns(scope: string, epoch: number): boolean {\n',
        '  readonly #known = new Set<string>()\n  owns(scope: string, epoch: number): boolean {\n    if (this.#known.has(`${epoch} ${scope}`)) return true\n    if ((this.#epochRow(scope)?.epoch ?? 0) === epoch) this.#known.add(`${epoch} ${scope}`)\n'.replace(
          '?.epoch',
          "?.['epoch']",
        ),
      ],
    ],
    test: inTest('sqlite-failures.test.ts', 'owners follow one another through a chain of processes'),
  },
  {
    name: 'SQLite answers before it has flushed',
    file: 'persistence/src/journal/sqlite/sqlite-schema.ts',
    edits: [
      [
        'pragma synchronous = ${synchronous}; pragma wal_autocheckpoint',
        "pragma synchronous = ${synchronous === 'full' ? 'off' : synchronous}; pragma wal_autocheckpoint",
      ],
    ],
    test: inTest('sqlite-failures.test.ts', 'a flush that fails leaves the outcome unknown, and nothing is seen that was not flushed'),
  },
  {
    name: 'SQLite does not compare the checksum of events',
    file: sqliteReads,
    edits: [["first, last, head, data) !== row['crc'])", 'first, last, head, data) === undefined)']],
    test: inTest('sqlite-damage.test.ts', 'a row that was changed is refused wherever it is read'),
  },
  {
    name: 'SQLite takes an actor whose rows are missing for a new one',
    file: sqliteReads,
    edits: [['    if (head === undefined) checkUnknown(file, key)\n    else checkHead', '    if (head !== undefined) checkHead']],
    test: inTest('sqlite-damage.test.ts', 'an actor that any table mentions never starts from its initial state'),
  },
  {
    name: 'SQLite does not compare heads with runs and states',
    file: sqliteReads,
    edits: [['    else checkHead(file, key, head)\n', '    else if (head.seq < 0) checkHead(file, key, head)\n']],
    test: inTest('sqlite-damage.test.ts', 'an actor that any table mentions never starts from its initial state'),
  },
  {
    name: 'SQLite deletes runs that are not what was written',
    file: sqliteWrites,
    edits: [["      checked('runs', row, () => `${id}#${first}`)\n", '']],
    test: inTest('sqlite-damage.test.ts', 'P13: a deletion that meets a damaged run'),
  },
  {
    name: 'SQLite does not say that its log only grows',
    file: 'persistence/src/journal/sqlite/sqlite-log.ts',
    edits: [['this.warning = size < this.#largest ? undefined', 'this.warning = size >= 0 ? undefined']],
    test: inTest('sqlite-failures.test.ts', 'grows while a process is stopped in a read'),
  },
  {
    name: 'a reader of memory waits for ever if the journal is closed while it looks',
    file: 'persistence/src/journal/memory.ts',
    edits: [['if (signal?.aborted === true || this.#closed) return\n      const found', 'if (signal?.aborted === true) return\n      const found']],
    test: inTest('memory.test.ts', 'memory()'),
  },
  {
    name: 'a reader of SQLite that has not waited yet is refused when the journal is closed',
    file: 'persistence/src/journal/sqlite/sqlite-journal.ts',
    edits: [['for (let begun = false; ; begun = true) {', 'for (let begun = false; ; begun &&= true) {']],
    test: inTest('sqlite-failures.test.ts', 'a reader that is still looking ends when its journal is closed'),
  },
  {
    name: 'SQLite does not count its epochs and offsets',
    file: sqliteOpen,
    edits: [['if (there !== state[table]) throw', 'if (there === undefined) throw']],
    test: inTest('sqlite-damage.test.ts', 'that are missing are noticed before anybody takes them for new'),
  },
  {
    name: 'SQLite opens a log that nobody has examined',
    file: sqliteOpen,
    edits: [['if (wal.problem !== undefined && synchronous', "if (wal.problem === '' && synchronous"]],
    test: inTest('sqlite-damage.test.ts', 'with a bad frame before whole commits is damage'),
  },
  {
    name: 'SQLite does not compare its commits with those that were acknowledged',
    file: sqliteOpen,
    edits: [['  if (there >= acknowledged) return\n', '  if (there >= 0) return\n']],
    test: inTest('sqlite-failures.test.ts', 'that was cut at a commit is noticed'),
  },
  {
    name: 'a file of SQLite is examined at several moments',
    file: 'persistence/src/journal/sqlite/sqlite-open.ts',
    edits: [
      ["    connection.exec('begin')\n", ''],
      ["    connection.exec('commit')\n", ''],
    ],
    test: inTest('sqlite-failures.test.ts', 'a file that is opened while another process takes over a scope is not taken for a damaged one'),
  },
  {
    name: 'a process exits while its worker is in a statement of SQLite',
    file: 'persistence/src/journal/sqlite/sqlite-worker-handle.ts',
    edits: [['for (const each of guards) shut(each, exitTimeoutMs)', 'for (const each of guards) if (each.length === 0) shut(each, exitTimeoutMs)']],
    test: inTest('sqlite-failures.test.ts', 'J2: a process that ends in the middle of a write'),
  },
  {
    name: 'a small actor waits for the largest of its recovery batch',
    file: recovery,
    edits: [['value.events.length) >= head.seq) finish', 'value.events.length) > Infinity) finish']],
    test: inTest('recovery.test.ts', 'a small actor starts with its own last event, however long the largest of its batch takes'),
  },
  {
    name: 'SQLite reads a long run again for each batch',
    file: sqliteEvents,
    edits: [
      ['    at.seen = events.length\n', '    at.seen = skip + query.batch - found.length\n'],
      ['  if (rest.length > 0) return false\n  at.rest = undefined\n', '  at.rest = undefined\n  if (rest.length > 0) return false\n'],
    ],
    test: inTest('reading-costs.test.ts', 'events once, however small the batches of a reader are'),
  },
  {
    name: 'a reader of SQLite whose slices are over at once makes no progress',
    file: sqliteEvents,
    edits: [['(isBegun && slice.isOver)', '(isBegun && slice.isOver && found.length > 0)']],
    test: inTest('reading-costs.test.ts', 'SQLite lets the loop turn while it looks for a tag that few events of long runs have'),
  },
  {
    name: 'a projection is called without events',
    file: 'persistence/src/reading/projection.ts',
    edits: [['(events.length === 0 ? undefined : handle(events, transaction))', '(events.length < 0 ? undefined : handle(events, transaction))']],
    test: inTest('reading.test.ts', 'is not called where a batch has nothing for it, and goes on after it'),
  },
  {
    name: 'keys are imported before all of them were compared',
    file: 'persistence/src/operating/importing.ts',
    edits: [['  for (const one of keys) refuseOther(one, await journal.key(one.subject), 0)\n', '']],
    test: inTest('copying.test.ts', 'of keys that belong to another journal none is imported'),
  },
  {
    name: 'an import takes data that cannot be decoded',
    file: 'persistence/src/operating/importing.ts',
    edits: [
      [
        '(this.#check.take(record) ?? undecodable(record))',
        '(this.#check.take(record) ?? (record.record === undefined ? undecodable(record) : undefined))',
      ],
    ],
    test: inTest('copying.test.ts', 'data that no actor could decode is refused, of events, states and snapshots'),
  },
  {
    name: 'a large event is encoded before it is measured',
    file: 'persistence/src/values/codec.ts',
    edits: [['  if (left < 0) throw new Exceeded()\n', '']],
    test: {
      file: 'packages/persistence/src/values/codec.test.ts',
      name: 'refuses a value that is too large after it has read as much of it as is allowed',
    },
  },
  {
    name: 'PostgreSQL locks owners for key share',
    file: appending,
    edits: [['order by o.scope for share of o', 'order by o.scope for key share of o']],
    test: inTest('postgres-trouble.test.ts', 'a takeover waits for an append that is open, and then sees it'),
  },
  {
    name: 'PostgreSQL is read in the order of numbers, whoever is still open',
    file: positions,
    edits: [['until: position - Number(row!.behind ?? 0)', 'until: position']],
    test: inTest('postgres-positions.test.ts', 'a group that has its position and is not committed is passed by no reader'),
  },
  {
    name: 'a writer of PostgreSQL takes a position without the lock that says so',
    file: positions,
    edits: [['case when ${lock(s)} is not null then nextval', 'case when true then nextval']],
    test: inTest('postgres-positions.test.ts', 'a group that has its position and is not committed is passed by no reader'),
  },
  {
    name: 'a lock of PostgreSQL is not read beyond 32 bits',
    file: positions,
    edits: [['and ((p.last & 4294967295) - l.objid::bigint) & 4294967295 < 2147483648', 'and p.last - l.objid::bigint between 0 and 2147483648']],
    test: inTest('postgres-positions.test.ts', 'a group that has its position and is not committed is passed by no reader'),
  },
  {
    name: 'a group of PostgreSQL takes its position before its heads are locked',
    file: appending,
    edits: [
      ["), placed as materialized (\n  ${nextPosition(s, '(select count(*) from accepted) > 0')}\n", ''],
      ['with named as materialized (\n', "with placed as materialized (\n  ${nextPosition(s, 'true')}\n), named as materialized (\n"],
      ['with ordinality as o(scope, epoch, k)\n', 'with ordinality as o(scope, epoch, k) where (select position from placed) > 0\n'],
    ],
    test: inTest('postgres-positions.test.ts', 'a group that waits for another writer has no position yet'),
  },
  {
    name: 'a journal does not say that its readers are held back',
    file: 'persistence/src/journal/postgres/held-readers.ts',
    edits: [['if (until < last) this.#readers.set', 'if (until > last) this.#readers.set']],
    test: inTest('postgres-positions.test.ts', 'a group that has its position and is not committed is passed by no reader'),
  },
  {
    name: 'a PostgreSQL journal whose sequence was not restored is taken',
    file: postgres,
    edits: [['if (Number(row!.used) > Number(row!.last))', 'if (Number(row!.used) < 0)']],
    test: inTest('postgres-positions.test.ts', 'tables that were restored without their sequence are refused'),
  },
  {
    name: 'the errors of a pool that a user gave have no listener',
    file: connection,
    edits: [["  if (users === 0) pool.on!('error', ignored)\n", '']],
    test: inTest('postgres-connections.test.ts', 'a server that restarts ends no process whose pool has no listener of its own'),
  },
  {
    name: 'a connection is listened to a moment after it was handed out',
    file: connection,
    edits: [
      [
        "        client.on('error', breaks)\n        resolve(client)",
        "        void Promise.resolve().then(() => client.on('error', breaks))\n        resolve(client)",
      ],
    ],
    test: inTest('postgres-connections.test.ts', 'a connection that is ended together with its greeting is an answer'),
  },
  {
    name: 'behind a pooler statements keep their names',
    file: connection,
    edits: [['      this.#named = false\n      return ask(undefined)', '      throw cause']],
    test: inTest('postgres-connections.test.ts', 'every append is stored, and readers in other processes are woken without NOTIFY'),
  },
  {
    name: 'PostgreSQL keeps versions of states in 31 bits',
    file: 'persistence/src/journal/postgres/schema.ts',
    edits: [['revision bigint not null, version bigint not null', 'revision bigint not null, version int not null']],
    test: inTest('postgres-connections.test.ts', 'a durable state, a snapshot and an event of a version'),
  },
  {
    name: 'a reader of PostgreSQL begins a run again in whose middle it stands',
    file: placedRuns,
    edits: [['after === position ? pos - before : 0', 'after === position ? Math.min(0, pos - before) : 0']],
    test: inTest('postgres-runs.test.ts', 'a reader goes on after every event of every run, by all, by kind and by tag'),
  },
  {
    name: 'a run of PostgreSQL that has a tag is given whole',
    file: placedRuns,
    edits: [
      ['if (i < skip || (tag !== undefined && !tags.includes(tag))) continue', 'if (i < skip || (tag !== undefined && tags.length < 0)) continue'],
    ],
    test: inTest('postgres-runs.test.ts', 'a reader goes on after every event of every run, by all, by kind and by tag'),
  },
  {
    name: 'the rows of an answer of PostgreSQL are decoded in one turn',
    file: finding,
    edits: [['if (performance.now() - turn >= sliceMs) {', 'if (performance.now() - turn >= sliceMs && turn > 0) {']],
    test: inTest('postgres-runs.test.ts', 'a reader lets the loop turn between the rows of an answer, and between its batches'),
  },
  {
    name: 'the batches of an answer of PostgreSQL are given in one turn',
    file: postgres,
    edits: [['if (performance.now() - turn < sliceMs) continue\n', 'if (performance.now() - turn < sliceMs * 1e9) continue\n']],
    test: inTest('postgres-runs.test.ts', 'a reader lets the loop turn between the rows of an answer, and between its batches'),
  },
  {
    name: 'what is deleted of a run of PostgreSQL is read all the same',
    file: placedRuns,
    edits: [['Math.max(0, deleted + 1 - first, ', 'Math.max(0, Math.min(0, deleted), ']],
    test: inTest('postgres-runs.test.ts', 'a run that is deleted in part has only the rest of it, for everybody; the row goes with its last event'),
  },
  {
    name: 'an answer of PostgreSQL that was cut short is taken for all there is',
    file: replaying,
    edits: [['if (rows.length < Number(rows[0]?.runs ?? 0))', 'if (rows.length < 0)']],
    test: inTest('postgres-runs.test.ts', 'an answer has few long runs, one at least, and nothing is left out or told as missing'),
  },
  {
    name: 'a row of PostgreSQL that says it has one event, and has two, is read as one',
    file: runText,
    edits: [["|| data.indexOf('\\n') !== data.length - 1 ||", '||']],
    test: inTest('postgres-runs.test.ts', 'is refused before any of it is replayed'),
  },
  {
    name: 'joined rows of PostgreSQL are split although one of them contains the separator',
    file: replaying,
    edits: [['const isWhole = heads.length === spans.length && data.length === spans.length', 'const isWhole = true']],
    test: inTest('postgres-runs.test.ts', 'data that has in it what parts rows from each other moves no other row'),
  },
  {
    name: 'a row of PostgreSQL that repeats an event is read again',
    file: replaying,
    edits: [['if (first < next && row > 0)', 'if (first < next && row < 0)']],
    test: inTest('postgres-runs.test.ts', 'is refused before any of it is replayed'),
  },
  {
    name: 'rows of PostgreSQL that were deleted during a replay are reported as missing',
    file: replaying,
    edits: [['Number(head?.deleted ?? 0) >= seq', 'Number(head?.deleted ?? 0) < 0']],
    test: inTest('postgres-runs.test.ts', 'what is deleted while it is replayed is not told as missing'),
  },
  {
    name: 'short rows of PostgreSQL come one by one',
    file: replaying,
    edits: [['<= ${maxShortRowBytes} as is_short', '<= ${maxShortRowBytes} * 0 as is_short']],
    test: inTest('postgres-runs.test.ts', 'what actors wrote one by one is replayed by one row for each actor, whatever its size'),
  },
  {
    name: 'long rows of PostgreSQL are joined with the short ones',
    file: replaying,
    edits: [
      [
        'octet_length(r.head) + octet_length(r.data) <= ${maxShortRowBytes} as is_short',
        'octet_length(r.head) + octet_length(r.data) <= ${maxShortRowBytes} * 100000 as is_short',
      ],
    ],
    test: inTest('postgres-runs.test.ts', 'an answer has few long runs, one at least, and nothing is left out or told as missing'),
  },
  {
    name: 'a line that is cut is read as an event of PostgreSQL',
    file: runText,
    edits: [["  if (lines.pop() !== '') throw new SyntaxError('its data is cut')\n", '  lines.pop()\n']],
    test: inTest('postgres-runs.test.ts', 'that was cut, joined or changed is not read'),
  },
  {
    name: 'a PostgreSQL that does not flush is taken',
    file: postgres,
    edits: [["for (const setting of ['fsync', 'synchronous_commit'])", "for (const setting of ['fsync'])"]],
    test: inTest('postgres-trouble.test.ts', 'a server that does not flush is refused'),
  },
  {
    name: 'a projection and its offset are stored apart',
    file: postgres,
    edits: [['          await work(client)\n', "          await run('commit')\n          await work(client)\n          await run('begin')\n"]],
    test: inTest('postgres-trouble.test.ts', 'a projection and its offset are stored together or not at all, and of two under one name one moves'),
  },
  {
    name: 'an effect is lost whose actor resumes and cannot read the journal',
    test: inTest('stopping-effects.test.ts', 'an effect whose actor resumes, and cannot read the journal, runs once it can'),
    file: gated,
    edits: [['recovered.catch(() => message.sendLater(this))', 'recovered.catch(() => message)']],
  },
  {
    name: 'a stop of a command loses the effects that wait',
    scenario: 'persistence in peace',
    file: effect,
    edits: [
      ['  await by.barrier()\n  await runEffects(by, ctx)\n  return stopped', '  await by.barrier()\n  void ctx\n  return stopped'],
      ['  if (by.latched !== undefined) await by.hub.recover(by)\n  await runEffects(by, ctx)\n', '  if (by.seq < 0) await runEffects(by, ctx)\n'],
    ],
  },
  {
    name: 'a stop that comes during a restart loses the effects that wait',
    test: inTest('stopping-effects.test.ts', 'it begins anew, and the stop comes before the next incarnation is up'),
    file: 'persistence/src/gate/shell.ts',
    edits: [['return finishIncarnation(gated, ctx).then(end, end)', 'return gated.seq < 0 ? finishIncarnation(gated, ctx).then(end, end) : end()']],
  },
  {
    name: 'a stop from outside loses the effects that wait',
    test: inTest('stopping-effects.test.ts', 'it is stopped from outside during the write'),
    file: effect,
    edits: [
      ['  if (by.latched !== undefined) await by.hub.recover(by)\n  await runEffects(by, ctx)\n', '  if (by.seq < 0) await runEffects(by, ctx)\n'],
    ],
  },
  {
    name: 'an effect runs though commands since are not durable',
    file: effect,
    edits: [['if (by.durable === by.seq) return this.run', 'if (by.durable <= by.seq) return this.run']],
    test: inTest('gate.test.ts', 'P4: after sees nothing that is not durable'),
  },
  {
    name: 'an effect of an earlier incarnation sees what was never stored',
    file: effect,
    edits: [['if (this.#owner !== by) this.#owner.follow(by)', 'if (this.#owner === by) this.#owner.follow(by)']],
    test: inTest('stopping-effects.test.ts', 'an effect that is left to the next incarnation sees what is stored'),
  },
  {
    name: 'what cannot be written any more ends the writer',
    file: gated,
    edits: [['      this.refused(cause)\n      return undefined', '      throw cause']],
    test: inTest('hostile.test.ts', 'a state or a delivery that cannot be written any more'),
  },
  {
    name: 'a journal is left alone by the clock that people set',
    file: writer,
    edits: [['const shut = this.#closedUntil - this.#host.ticks()', 'const shut = this.#closedUntil - this.#host.environment.now()']],
    test: { file: 'packages/persistence/src/journal/writer.test.ts', name: 'a clock that is put back does not lengthen the pause' },
  },
  {
    name: 'who was erased while an actor recovered is in its memory',
    file: hub,
    edits: [['actor.hasErased && tries < 10', 'actor.hasErased && tries < 0']],
    test: inTest('erasure.test.ts', 'a subject that is erased while an actor recovers'),
  },
  {
    name: 'a key that was read before it was erased is believed',
    file: keyring,
    edits: [["?.secret === 'erased' ? 'erased' : found", "?.secret === 'erased' ? found : found"]],
    test: inTest('erasure.test.ts', 'a subject that is erased while an actor recovers'),
  },
  {
    name: 'an actor that was stopped while it recovered is kept',
    file: hub,
    edits: [['if (!isWanted(actor)) throw', 'if (!isWanted(actor) && this.closing) throw']],
    test: inTest('survey.test.ts', 'an actor that was stopped while it recovered is not kept'),
  },
  {
    name: 'what a journal did not say of a write is not known, and the epoch is not raised',
    file: writer,
    edits: [
      ['outcome !== undefined && known.has(outcome.is) ? outcome', 'outcome !== undefined && (known.size > 9 || outcome.is !== undefined) ? outcome'],
    ],
    test: { file: 'packages/persistence/src/journal/writer.test.ts', name: 'what a journal did not say of a write is unknown' },
  },
  {
    name: 'a clock that is put forward is noticed when the wait is over',
    file: waking,
    edits: [['Math.min(longestWait, Math.max(0, left))', 'Math.max(0 * longestWait, left)']],
    test: { file: 'packages/persistence/src/gate/waking.test.ts', name: 'a clock that is put forward, or went on' },
  },
  {
    name: 'instances of classes that extend what is plain are kept as what they extend',
    file: codec,
    edits: [['value instanceof made && Object.getPrototypeOf(value) === made.prototype', 'value instanceof made']],
    test: { file: 'packages/persistence/src/values/codec.test.ts', name: 'refuses' },
  },
  {
    name: 'SQLite finds out in the middle of a write that the disk is full',
    file: sqliteWriter,
    edits: [['if (left < reservedBytes + 3 * bytes)', 'if (left < 0 * reservedBytes * bytes)']],
    test: inTest('trouble.test.ts', 'a disk with no room'),
  },
  {
    name: 'who asked one that is killed is told that nothing is stored, and it is',
    file: gated,
    edits: [["new PersistUnknown(this.id, undefined, 'the actor was killed", "new PersistFailed(this.id, 'the actor was killed"]],
    test: inTest('gate.test.ts', 'a kill drops what is held'),
  },
  {
    name: 'what is written while a journal is verified is taken for damage',
    file: sqliteWriter,
    edits: [['pragma query_only = on; begin', 'pragma query_only = on']],
    test: inTest('sqlite.test.ts', 'sqliteJournal()'),
  },
  {
    name: 'who asks one that cannot start because of the journal waits until the time is over',
    file: 'persistence/src/gate/patience.ts',
    edits: [["whenAway === 'reject' && cell.phase === 'starting' && isOutside(cause)", "whenAway !== 'reject' && isOutside(cause)"]],
    test: inTest('patience.test.ts', 'refuses questions at once, until it is up'),
  },
  {
    name: 'a timeout does not say what keeps its target from coming up',
    file: 'core/src/cell/ask/explanation.ts',
    edits: [['?.hindrance?.() ?? target.info?.cause', '?.hindrance?.()']],
    test: inTest('patience.test.ts', 'the timeout of a question says what keeps its target from coming up'),
  },
  {
    name: 'a start that waits for the journal does not say so',
    file: hub,
    edits: [['explainStart(actor.cell, this.#whyClosed)', 'if (this.closing) explainStart(actor.cell, this.#whyClosed)']],
    test: inTest('patience.test.ts', 'the timeout of a question says what keeps its target from coming up'),
  },
  {
    name: 'replay reads the rows of events that were written one by one',
    file: sqliteReads,
    edits: [['    if (one.next <= packed) {', '    if (one.next <= packed - last) {']],
    test: inTest('sqlite-packs.test.ts', 'what an actor wrote one by one is replayed from copies'),
  },
  {
    name: 'a copy of events is believed without its checksum',
    file: sqlitePacks,
    edits: [['${head}\\0${data}`) !== Number(crc)) break', '${head}\\0${data}`) < 0 * Number(crc)) break']],
    test: inTest('sqlite-packs.test.ts', 'is passed over'),
  },
  {
    name: 'what was rolled back is copied',
    file: sqliteWriter,
    edits: [['      writes.packing.clear()\n      this.#rollBack(connection)', '      this.#rollBack(connection)']],
    test: inTest('sqlite-packs.test.ts', 'what was rolled back is in no copy'),
  },
  {
    name: 'copies of deleted events stay',
    file: sqliteWrites,
    edits: [
      [
        "this.#sql('delete from packs where id = ? and last <= ?').run(id, deleted)",
        "this.#sql('delete from packs where id = ? and last <= ?').run(id, 0 * deleted)",
      ],
    ],
    test: inTest('sqlite-packs.test.ts', 'copies go with the events that are deleted'),
  },
  {
    name: 'keys of subjects are written one by one',
    file: subjectKeys,
    edits: [['this.#waiting.splice(0, writtenAtOnce)', 'this.#waiting.splice(0, Math.min(1, writtenAtOnce))']],
    test: inTest('subject-keys.test.ts', 'keys that are given together are written together'),
  },
  {
    name: 'of two keys of a subject the last one holds',
    file: subjectKeys,
    edits: [['if (kind === erased || (kind === kept && !isErased)) return', 'if (kind === erased) return']],
    test: inTest('subject-keys.test.ts', 'of two processes that give many subjects keys at once'),
  },
  {
    name: 'a key is appended to what a crash left of another',
    file: subjectKeys,
    edits: [['Buffer.from(`\\n${news', 'Buffer.from(`${news']],
    test: inTest('subject-keys.test.ts', 'what a process was writing when it ended is nothing'),
  },
  {
    name: 'a record of a key that cannot be read is passed over',
    file: subjectKeys,
    edits: [['this.#unreadable ??= at', 'this.#unreadable ??= at < 0 ? at : undefined']],
    test: inTest('subject-keys.test.ts', 'a record that cannot be read may be of anybody'),
  },
  {
    name: 'a key stays in its file after its subject was erased',
    file: subjectKeys,
    edits: [['if (isErased && kind === kept) this.#undestroyed.push(before)', 'if (isErased && kind === damaged) this.#undestroyed.push(before)']],
    test: inTest('subject-keys.test.ts', 'a key whose subject was erased is destroyed by the next process'),
  },
  {
    name: 'keys of a file that was replaced are believed',
    file: subjectKeys,
    edits: [['if (ino !== this.#inode || size < this.#end)', 'if (ino !== this.#inode && size < 0)']],
    test: inTest('subject-keys.test.ts', 'a file that was put in the place of another one'),
  },
  {
    name: 'a subject that PostgreSQL cannot take fails the others',
    file: 'persistence/src/journal/postgres/subject-keys.ts',
    edits: [['if (some.length > 1 && ', 'if (some.length > 1_000_000 && ']],
    test: inTest('postgres.test.ts', 'postgres()'),
  },
  {
    name: 'a budget keeps the permit of actors that were stopped while they waited for it',
    file: recovery,
    edits: [
      ['        if (batch.length === 0) continue\n        this.#reads++\n', '        this.#reads++\n        if (batch.length === 0) continue\n'],
    ],
    test: inTest('recovery.test.ts', 'actors that are stopped while they wait for a permit take none'),
  },
  {
    name: 'signals are heard before what the actor persisted is durable',
    file: 'persistence/src/gate/shell.ts',
    edits: [['return gated.whenDurable(others)', 'return others()']],
    test: inTest('setup.test.ts', 'the signal handler of a setup hears what a persistent actor hears'),
  },
]
