// Mutants that change nothing a promise speaks of, each with the reason. Listed by what was changed, not by line.

export const equivalents = [
  {
    file: 'cell/phase-change.ts',
    before: "if (from === 'suspended' && extras.metrics !== undefined) extras.metrics.suspendedMs += now - (before as PhaseInfo).since",
    after: 'if (extras.metrics !== undefined) extras.metrics.suspendedMs += now - (before as PhaseInfo).since',
    why: 'only a metric of suspension, which no promise is about',
  },
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
]
