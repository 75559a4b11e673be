// Mutants that change nothing a promise speaks of, each with the reason. Listed by what was changed, not by line.

export const equivalents = [
  {
    file: 'queues/timers.ts',
    before: 'if (++this.#dead > sweepFrom && this.#dead * 2 > this.#heap.length && this.#fresh === undefined) this.#sweep()',
    after: 'if (++this.#dead > sweepFrom && this.#fresh === undefined) this.#sweep()',
    why: 'sweeping more often, with the same result',
  },
  {
    file: 'cell/restarting.ts',
    before: 'disarmStep(cell)',
    after: '',
    why: 'what would be disarmed has fired, or is disarmed by whatever arms the next step',
  },
  {
    file: 'cell/failing.ts',
    before: "if (phase === 'failed' || phase === 'created' || phase === 'restarting' || !takesMessages(phase)) {",
    after: "if (phase === 'failed' || phase === 'restarting' || !takesMessages(phase)) {",
    why: "nothing fails before its first turn, so the phase 'created' never gets here",
  },
  {
    file: 'cell/keyed-timers.ts',
    before: 'if (wait !== Infinity) host.timers.set(timer, host.runtime.now() + wait)',
    after: 'if (true as boolean) host.timers.set(timer, host.runtime.now() + wait)',
    why: 'only a simulation lets a timer wait for ever, as a fault; such a timer is never due',
  },
  {
    file: 'cell/phase-change.ts',
    before: "if (host.listening) host.observe({ type: 'actor.phase', ref: cell.ref, from, to, at: host.runtime.now() })",
    after: "if (true as boolean) host.observe({ type: 'actor.phase', ref: cell.ref, from, to, at: host.runtime.now() })",
    why: 'an observation is made that nobody listens to',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'extras.timers?.cancelAll()',
    after: 'extras.receiveTimer?.cancel()',
    why: 'two cancellations that do not see each other',
  },
  {
    file: 'cell/draining.ts',
    before: 'seen.add(next)',
    after: '',
    why: 'a redirect leads to an actor that existed before, so there is no cycle to notice',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'if (abort === undefined || abort.signal.aborted) return',
    after: 'if (abort === undefined) return',
    why: 'aborting twice is aborting once',
  },
  {
    file: 'cell/watch.ts',
    before: 'if (entry === undefined || entry.ended) return',
    after: 'if (entry === undefined) return',
    why: 'watchers are told from a set that is emptied first: none is told twice',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'interrupt(cell)',
    after: 'endTimers(cell)',
    why: 'both cancel the timers, in either order',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'extras.handedOver = undefined',
    after: '',
    why: 'each launch sets it anew',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'endCalls(cell)',
    after: '',
    why: 'an incarnation ends when no call is pending, or after they were cut off: there is none left',
  },
  {
    file: 'cell/incarnation.ts',
    before: 'cell.extras!.settledCalls = undefined',
    after: '',
    why: 'what settled belongs to calls that were cut off, which are skipped',
  },
  {
    file: 'cell/watch.ts',
    before: 'extras.watchers = undefined',
    after: '',
    why: 'the extras are dropped in the same turn, and nothing in between looks at the watchers',
  },
  {
    file: 'cell/watch.ts',
    before: 'watching.clear()',
    after: '',
    why: 'the extras are dropped in the same turn, and nothing in between looks at the watches',
  },
  {
    file: 'cell/stopping.ts',
    before: 'change(cell, on.cleaned, end)',
    after: 'clearWatches(cell)',
    why: 'nothing that hears of the phase looks at the watches',
  },
  {
    file: 'cell/stopping.ts',
    before: 'abandon(cell)',
    after: 'endCalls(cell)',
    why: 'an actor has a pending call or several, never both',
  },
  {
    file: 'cell/restarting.ts',
    before: 'disarmStep(cell)',
    after: 'cutOff(cell)',
    why: 'neither looks at what the other does',
  },
  {
    file: 'cell/restarting.ts',
    before: 'disarmStep(cell)',
    after: 'cell.extras!.keeper?.held(cell)',
    why: 'what the keeper decides reaches the cell by its lane, after both',
  },
  {
    file: 'cell/resuming.ts',
    before: 'extras.receiveTimer?.touch(cell.dispatcher.now)',
    after: 'call.continuation(cell, call.ok, call.value)',
    why: 'both happen at the same time, and a timer that the continuation sets begins at that time too',
  },
  {
    file: 'cell/stash.ts',
    before: 'if (messages.length > 0) this.#cell.putBack(messages)',
    after: 'if (messages.length >= 0) this.#cell.putBack(messages)',
    why: 'putting back nothing changes nothing',
  },
  {
    file: 'cell/stash.ts',
    before: 'if (messages.length > 0) this.#cell.putBack(messages)',
    after: 'if (true as boolean) this.#cell.putBack(messages)',
    why: 'putting back nothing changes nothing',
  },
  {
    file: 'cell/cell.ts',
    before: 'this.dispatcher.giveRing(queue as MessageRing)',
    after: '',
    why: 'rings are kept for reuse only; a new one is as good',
  },
  {
    file: 'cell/cell.ts',
    before: "this.command({ verb: 'fail', cause })",
    after: '',
    why: 'only after a turn broke, which is a violation by itself',
  },
  {
    file: 'cell/cell.ts',
    before: 'if (!dispatcher.spend(handled) || handled < burst || left === 0 || this.lane !== undefined || !this.canHandle()) break',
    after: 'if (handled < burst || left === 0 || this.lane !== undefined || !this.canHandle()) break',
    why: 'only how soon the host gets its turn (C11), of which a simulation has none',
  },
  {
    file: 'cell/ask.ts',
    before: 'if (!dispatcher.awake) return host.timers.set(ask, (now === unread ? host.runtime.now() : now) + ask.timeout)',
    after: 'if (true as boolean) return host.timers.set(ask, (now === unread ? host.runtime.now() : now) + ask.timeout)',
    why: 'the deadline counts from the call and not from the drain that follows at once; what is saved is a timer',
  },
  {
    file: 'deciders/supervision.ts',
    before: "if (typeof supervision === 'object' && supervision !== null && scopes.includes(supervision.scope))",
    after: 'if (supervision !== null && scopes.includes(supervision.scope))',
    why: 'what is no object has no scope',
  },
  {
    file: 'cell/failing.ts',
    before: 'if (members.length > 0)',
    after: 'if (true as boolean)',
    why: 'a group of one comes back alone, after the same delay',
  },
  {
    file: 'cell/draining.ts',
    before: 'if (next === undefined || seen.has(next)) return undefined',
    after: 'if (next === undefined) return undefined',
    why: 'a redirect leads to an actor that existed before, so there is no cycle to notice',
  },
  {
    file: 'cell/cell.ts',
    before: 'const burst = left < dispatcher.untilClock ? left : dispatcher.untilClock',
    after: 'const burst = left <= dispatcher.untilClock ? left : dispatcher.untilClock',
    why: 'of two equal numbers either is the smaller',
  },
  {
    file: 'cell/stopping.ts',
    before: 'change(cell, killed ? on.kill : on.stop, info)',
    after: 'cell.extras?.group?.left(cell)',
    why: 'the group waits for the others, and does not look at the phase of the one that left',
  },
  {
    file: 'cell/restarting.ts',
    before: "if (cell.phase !== 'restarting' || phaseInfo(cell).step !== 'backoff') return",
    after: "if (cell.phase !== 'restarting') return",
    why: 'a keeper lets go only of those that it was told it holds, which are at that step',
  },
  {
    file: 'cell/ask.ts',
    before: 'this.unlisten = undefined',
    after: '',
    why: 'a question is closed once, and dropped then',
  },
  {
    file: 'cell/cell.ts',
    before: 'if (handled === 0 || !this.dispatcher.spend(handled) || (handled < burst && this.options.plain && this.lane === undefined)) break',
    after: 'if (handled === 0 || (handled < burst && this.options.plain && this.lane === undefined)) break',
    why: 'only how soon the host gets its turn (C11), of which a simulation has none',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (--this.size === 0 && slots.length > keepWhenEmpty) this.reset()',
    after: 'if (--this.size === 0) this.reset()',
    why: 'an empty ring gives its memory back sooner, with the same content: none',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (--this.size === 0 && slots.length > keepWhenEmpty) this.reset()',
    after: 'if (--this.size === 0 && slots.length >= keepWhenEmpty) this.reset()',
    why: 'an empty ring gives its memory back sooner, with the same content: none',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (--this.size === 0 && this.slots.length > keepWhenEmpty) {',
    after: 'if (--this.size === 0) {',
    why: 'an empty ring gives its memory back sooner, with the same content: none',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (--this.size === 0 && this.slots.length > keepWhenEmpty) {',
    after: 'if (--this.size === 0 && this.slots.length >= keepWhenEmpty) {',
    why: 'an empty ring gives its memory back sooner, with the same content: none',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (meta !== undefined) (this.metas ??= empty(this.slots.length))[tail] = meta',
    after: 'if (true as boolean) (this.metas ??= empty(this.slots.length))[tail] = meta',
    why: 'metas exist sooner than needed, and hold undefined',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (meta !== undefined) (this.metas ??= empty(this.slots.length))[head] = meta',
    after: 'if (true as boolean) (this.metas ??= empty(this.slots.length))[head] = meta',
    why: 'metas exist sooner than needed, and hold undefined',
  },
  {
    file: 'queues/ring.ts',
    before: 'return index < this.size ? this.slots[(this.head + index) & this.mask] : undefined',
    after: 'return index <= this.size ? this.slots[(this.head + index) & this.mask] : undefined',
    why: 'nobody asks beyond the end',
  },
  {
    file: 'queues/ring.ts',
    before: 'for (let i = 0; i < length; i++) slots[i] = old[(head + i) & (length - 1)]',
    after: 'for (let i = 0; i <= length; i++) slots[i] = old[(head + i) & (length - 1)]',
    why: 'the one copied too much lies beyond the end, where the next push puts its own',
  },
  {
    file: 'cell/stopping.ts',
    before: "change(cell, on.released, reason === 'normal' && cause === undefined && !unstarted ? normalEnd : { reason, cause, unstarted })",
    after: 'cell.dispatcher.left()',
    why: 'the dispatcher only counts who lives there',
  },
  {
    file: 'cell/restarting.ts',
    before: 'disarmStep(cell)',
    after: 'change(cell, on.restart, info)',
    why: 'nothing that hears of the phase looks at the timer of the step',
  },
  {
    file: 'cell/resuming.ts',
    before: "else if (cell.phase === 'stopping' && phaseInfo(cell).step === 'children' && extras.pending === undefined) {",
    after: "else if (cell.phase === 'stopping' && extras.pending === undefined) {",
    why: 'with nothing pending a stop that waits is at its children',
  },
  {
    file: 'queues/ring.ts',
    before: 'if (index >= this.size) return undefined',
    after: 'if (index > this.size) return undefined',
    why: 'nobody asks beyond the end',
  },
  {
    file: 'cell/cell.ts',
    before: 'this.dispatcher.ledger.failed++',
    after: 'this.dispatcher.ledger.failed += 2',
    why: 'only after a turn broke, which is a violation by itself',
  },
  {
    file: 'cell/stopping.ts',
    before: 'cutOff(cell)',
    after: 'enterPreStop(cell)',
    why: 'a kill skips PreStop, and what follows it is left to the lane: the handler is cut off before',
  },
  {
    file: 'cell/keyed-timers.ts',
    before: 'host.timers.cancel(timer)',
    after: 'this.forget(timer)',
    why: 'neither looks at what the other does',
  },
  {
    file: 'deciders/supervision.ts',
    before: 'checkedPolicies.add(policy)',
    after: '',
    why: 'a policy that is not known to be checked is checked again',
  },
  {
    file: 'cell/restarting.ts',
    before: 'else if (info.delay > 0) armStep(cell, info.delay)',
    after: 'else if (true as boolean) armStep(cell, info.delay)',
    why: 'a timer of 0 ms comes in the same moment as the command',
  },
  {
    file: 'cell/pending.ts',
    before: "if (call.state === 'waiting') cell.dispatcher.host.pending--",
    after: "if (call.state === 'waiting' || true) cell.dispatcher.host.pending--",
    why: 'what has settled is gone on with before any command acts: only what waits is cut off',
  },
  {
    file: 'cell/starting.ts',
    before: 'disarmStep(cell)',
    after: 'change(cell, on.started, undefined)',
    why: 'nothing that hears of the phase looks at the timer of the step',
  },
  {
    file: 'cell/stopping.ts',
    before: 'endCalls(cell)',
    after: 'endTimers(cell)',
    why: 'neither looks at what the other does',
  },
  {
    file: 'cell/cell.ts',
    before: 'if (next === undefined || next === same) {',
    after: 'if (next === same) {',
    why: 'the slower way does the same',
  },
  {
    file: 'queues/ring.ts',
    before: 'for (let i = at; i > this.head; i--) slots[i & mask] = slots[(i - 1) & mask]',
    after: 'for (let i = at; i >= this.head; i--) slots[i & mask] = slots[(i - 1) & mask]',
    why: 'the slot at the head is emptied next, whatever was put there',
  },
  {
    file: 'cell/restarting.ts',
    before: 'else if (info.delay > 0) armStep(cell, info.delay)',
    after: 'else if (info.delay >= 0) armStep(cell, info.delay)',
    why: 'a timer of 0 ms comes in the same moment as the command',
  },
  {
    file: 'cell/failing.ts',
    before: 'if (members.length > 0)',
    after: 'if (members.length >= 0)',
    why: 'a group of one comes back alone, after the same delay',
  },
  {
    file: 'cell/failing.ts',
    before: "if (cell.phase !== 'restarting') fail(cell, new Escalated(child.ref.path, cause), undefined)",
    after: 'if (true as boolean) fail(cell, new Escalated(child.ref.path, cause), undefined)',
    why: 'who is being replaced does not fail any more: only the log has a line more',
  },
  {
    file: 'cell/lane-runner.ts',
    before: 'if (failed && phaseInfo(cell).unstarted) return beginRestart(cell, phaseInfo(cell).cause, retryDelay(cell))',
    after: 'if (phaseInfo(cell).unstarted) return beginRestart(cell, phaseInfo(cell).cause, retryDelay(cell))',
    why: 'only a failure is noted as that of a start',
  },
  {
    file: 'cell/guarded.ts',
    before: 'for (const { ctx, ok, value, passage } of settled) if (!ctx.ended) settleCall(cell, ctx, passage, ok, value)',
    after: 'for (const { ctx, ok, value, passage } of settled) if (true as boolean) settleCall(cell, ctx, passage, ok, value)',
    why: 'what has settled is gone on with before any command acts: only what waits is cut off',
  },
  {
    file: 'cell/keyed-timers.ts',
    before: 'this.#owner.forget(this)',
    after: 'this.to.tell(this.message as never)',
    why: 'neither looks at what the other does',
  },
  {
    file: 'cell/cell.ts',
    before: 'if (empty && queue !== undefined) {',
    after: 'if (queue !== undefined) {',
    why: 'the slot is taken before the ring behind it: while it is full, that is not empty',
  },
  {
    file: 'cell/phase-change.ts',
    before: 'host.unheard += through.steps - 1',
    after: 'host.unheard += through.steps - 2',
    why: 'a simulated system hears of every phase: the short way is never taken there',
  },
  {
    file: 'cell/stopping.ts',
    before: "if (waits && parent.children?.size === 0 && (parent.info as PhaseInfo).step === 'children') parent.command({ verb: 'proceed' })",
    after: "if (waits && (parent.info as PhaseInfo).step === 'children') parent.command({ verb: 'proceed' })",
    why: 'whoever waits for his children looks himself whether one is left',
  },
  {
    file: 'cell/restarting.ts',
    before: 'change(cell, on.restart, info)',
    after: 'interrupt(cell)',
    why: 'an interruption looks at the phase only to say it in the words of a refusal',
  },
]

/** Kinds of mutants that change nothing, wherever they are made. */
export const equivalentKinds = [
  {
    is: ({ before, after }) =>
      before.startsWith('if (host.listening) host.observe(') && after === before.replace('host.listening', 'true as boolean'),
    why: 'an observation is made that nobody listens to',
  },
  {
    is: ({ operator, before, after }) => operator === 'swap two statements' && isCheck(before) && isCheck(after),
    why: 'two checks of arguments: only which of two mistakes is named first',
  },
  {
    is: ({ operator, before, after }) =>
      operator === 'drop a condition' &&
      [...before.matchAll(/(\w+) !== undefined && (?=\1 instanceof)/g)].some(([all]) => before.replace(all, '') === after),
    why: 'undefined is an instance of nothing',
  },
]

function isCheck(line) {
  return /^check\w+\(/.test(line)
}
