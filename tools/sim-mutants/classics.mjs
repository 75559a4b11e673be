// Bugs that actor systems really had, as patches: never in the shipped code, applied to a copy of it. Each `edits` pair is
// what stands there and what is put in its place; a patch that no longer fits is an error, not a pass.

export const classics = [
  {
    name: 'skip the generation check of a timer',
    file: 'cell/context/timers.ts',
    edits: [['    if (!this.live) {', '    if (!this.live && this.at < 0) {']],
  },
  {
    name: 'timers survive a restart',
    file: 'cell/life/incarnation.ts',
    edits: [
      ['  extras.timers?.cancelAll()\n', ''],
      ['  extras.timers.end()\n', ''],
    ],
  },
  {
    name: 'lose the stash on the second failure',
    file: 'cell/life/restarting.ts',
    edits: [
      [
        '  endIncarnation(cell)\n',
        '  endIncarnation(cell)\n  if (cell.extras !== undefined && cell.extras.incarnation > 0) cell.extras.stash = undefined\n',
      ],
    ],
  },
  {
    name: 'unstash in reverse',
    file: 'cell/turn/cell.ts',
    edits: [['for (let i = list.length - 1; i >= 0; i--) front.unshift', 'for (let i = 0; i < list.length; i++) front.unshift']],
  },
  {
    name: 'tell watchers twice',
    file: 'cell/life/run-commands.ts',
    edits: [
      [
        '    cell.extras!.watching!.delete(signal.ref)\n',
        '    const again = watch as typeof watch & { again?: true }\n    if (again.again === true) cell.extras!.watching!.delete(signal.ref)\n    else cell.signal(signal)\n    again.again = true\n',
      ],
    ],
  },
  {
    name: 'forget to clear a watch',
    file: 'cell/ref/watch.ts',
    edits: [['  for (const ref of watching.keys()) cellOf(ref)?.extras?.watchers?.delete(cell)\n', '']],
  },
  {
    name: 'a new incarnation watches the children of the one before',
    file: 'cell/life/restarting.ts',
    edits: [['if ((ref as LocalRef).parent === cell.ref) unwatch(cell, ref)', 'if ((ref as LocalRef).parent === undefined) unwatch(cell, ref)']],
  },
  {
    name: 'unwatch leaves a Terminated that is queued',
    file: 'cell/life/run-commands.ts',
    edits: [
      ['    if (watch === undefined || !watch.ended || watch.message !== undefined) return\n', ''],
      [
        '    cell.extras!.watching!.delete(signal.ref)\n    deathPact = watch.deathPact\n',
        '    cell.extras?.watching?.delete(signal.ref)\n    deathPact = watch?.deathPact === true\n',
      ],
    ],
  },
  {
    name: 'a watch of the dead is never answered',
    file: 'cell/ref/watch.ts',
    edits: [['  else tellOf(cell, ref, end.reason, end.cause)\n', '']],
  },
  {
    name: 'count restarts per parent',
    file: 'cell/life/failing.ts',
    edits: [["  if (policy.scope === 'one-for-one' || parent === undefined) return", '  if (policy === undefined || parent === undefined) return']],
  },
  {
    name: 'each member of a group has a budget of its own',
    file: 'cell/life/failing.ts',
    edits: [["  if (policy.scope === 'one-for-one' || parent === undefined) return", '  if (policy !== undefined || parent === undefined) return']],
  },
  {
    name: 'a group that begins anew with its parent keeps the budget it had',
    file: 'cell/life/starting.ts',
    edits: [['  extras.groupHistory = undefined\n', '']],
  },
  {
    name: 'the window of restarts does not slide',
    file: 'deciders/recent-times.ts',
    edits: [['    const from = now - within\n', '    const from = Math.floor(now / within) * within - 1e-9\n']],
  },
  {
    name: 'the handler of a setup does not hear what the behavior leaves unhandled',
    file: 'cell/life/hearing.ts',
    edits: [['    if (!isUnhandled(answer)) return answer\n', '    return answer\n']],
  },
  {
    name: 'the restart limit is off by one',
    file: 'deciders/supervision.ts',
    edits: [['.count >= limit.restarts', '.count > limit.restarts']],
  },
  {
    name: 'unregister after notifying',
    file: 'cell/life/stopping.ts',
    edits: [
      ['  cell.ref.parent?.cell.children?.free(cell)\n', ''],
      [
        '  parent?.children?.remove(cell)\n  const unstarted',
        '  void Promise.resolve().then(() => {\n    parent?.children?.free(cell)\n    parent?.children?.remove(cell)\n  })\n  const unstarted',
      ],
    ],
  },
  {
    name: 'run two handlers at once after an await',
    file: 'cell/turn/cell.ts',
    edits: [
      [
        "    return this.phase === 'running' && (this.extras === undefined || (this.extras.pending === undefined && !this.extras.saturated))\n",
        "    return this.phase === 'running'\n",
      ],
    ],
  },
  {
    name: 'drop a message on grow',
    file: 'queues/ring.ts',
    edits: [['  for (let i = 0; i < length; i++) slots[i] =', '  for (let i = 0; i < length - 1; i++) slots[i] =']],
  },
  {
    name: 'restart before the children stopped',
    file: 'cell/life/ending.ts',
    edits: [
      [
        '  if (info.endsChildren(cell) && cell.children !== undefined && cell.children.size > 0) return\n',
        "  if (cell.phase === 'stopping' && cell.children !== undefined && cell.children.size > 0) return\n",
      ],
    ],
  },
  {
    name: 'stop before the children stopped',
    file: 'cell/life/ending.ts',
    edits: [
      [
        '  if (info.endsChildren(cell) && cell.children !== undefined && cell.children.size > 0) return\n',
        "  if (cell.phase === 'restarting' && info.endsChildren(cell) && cell.children !== undefined && cell.children.size > 0) return\n",
      ],
    ],
  },
  {
    name: 'deliver to the wrong incarnation: an adapter outlives its own',
    file: 'cell/ref/adapter.ts',
    edits: [['    return this.cell.ctx === this.#of ? this.#fn : undefined\n', '    return this.#of === undefined ? undefined : this.#fn\n']],
  },
  {
    name: 'deliver to the wrong incarnation: a handler that was cut off completes in the next',
    file: 'cell/life/pending.ts',
    edits: [
      [
        "    if (this.state !== 'waiting') return\n",
        "    if (this.state === 'settled') return\n    if (this.state === 'abandoned') this.cell.ensureExtras().pending = this\n",
      ],
    ],
  },
  {
    name: 'a target that stops leaves its askers waiting',
    file: 'cell/life/stopping.ts',
    edits: [
      [
        '!drainMailbox(cell, end) || !endAsked(cell, end) || ',
        '!drainMailbox(cell, end) || (cell.extras?.asked?.at === -1 && !endAsked(cell, end)) || ',
      ],
    ],
  },
  {
    name: 'an ask that timed out stays registered',
    file: 'cell/ask/ask.ts',
    edits: [['    this.edge?.unlink()\n', '']],
  },
  {
    name: 'the message in progress is forgotten by a kill',
    file: 'cell/life/ending.ts',
    edits: [
      [
        "  ctx.fail('stopped', cell.info?.cause)\n",
        "  const { failed } = cell.dispatcher.ledger\n  ctx.fail('stopped', cell.info?.cause)\n  cell.dispatcher.ledger.failed = failed\n",
      ],
    ],
  },
  {
    name: 'messages left in the mailbox vanish on stop',
    file: 'cell/life/stopping.ts',
    edits: [['  if (!drainMailbox(cell, end) || ', '  if ((end.cause === drainMailbox && !drainMailbox(cell, end)) || ']],
  },
  {
    name: 'PostStop runs again when a restart is stopped',
    file: 'cell/life/ending.ts',
    edits: [['  info.live = false\n', "  if (cell.phase === 'stopping') info.live = false\n"]],
  },
  {
    name: 'a shutdown waits for a handler that never settles',
    file: 'cell/life/ending.ts',
    edits: [
      ['  if (isBusy(cell)) boundWait(cell)\n', "  if (isBusy(cell)) cell.phase === 'restarting' && boundWait(cell)\n"],
      ['  if (isBusy(cell) && cell.hasten()) return\n', '  if (isBusy(cell) && (cell.hasten() || info.hurry === true)) return\n'],
    ],
  },
  {
    name: 'suspended actors go on with their mailbox',
    file: 'cell/turn/cell.ts',
    edits: [
      ["    return this.phase === 'running' && (this.extras", "    return (this.phase === 'running' || this.phase === 'suspended') && (this.extras"],
    ],
  },
  {
    name: 'a kept child that failed up to a parent in its backoff is restarted at once, without limit and delay',
    file: 'cell/life/failing.ts',
    edits: [
      [
        "  if (cell.phase !== 'restarting') fail(cell, new Escalated(child.ref.path, cause))\n",
        "  if (cell.phase !== 'restarting') fail(cell, new Escalated(child.ref.path, cause))\n  else if (cell.options.restartChildren === 'keep') child.command({ verb: 'restart', cause, delay: 0 })\n",
      ],
    ],
  },
  {
    name: 'a start that fails again and again under a parent that resumes is made again without a pause',
    file: 'cell/life/failing.ts',
    edits: [['  return count < 2 ? 0 : backoffDelay', '  return count > 0 ? 0 : backoffDelay']],
  },
  {
    name: 'a restart asked for during a start that fails is made a second time',
    file: 'cell/life/restarting.ts',
    edits: [
      [
        "  if (lane !== undefined) lane.deferred = lane.deferred.filter((waiting) => waiting.verb !== 'restart' && waiting.verb !== 'hold')\n",
        '  void lane\n',
      ],
    ],
  },
  {
    name: 'a handler that let its question expire asks with its full time',
    file: 'cell/ask/ask.ts',
    edits: [['    if (this.settled) return this.timeout === 0 ? -Infinity : Infinity\n', '    if (this.settled) return Infinity\n']],
  },
  {
    name: 'a wake-up is lost after a turn that began with signals alone',
    file: 'cell/turn/cell.ts',
    edits: [
      [
        '    } else this.fullTurn(quota)\n',
        '    } else {\n      const alone = this.lane !== undefined && this.queuedMessages === 0\n      this.fullTurn(quota)\n      if (alone && this.lane === undefined && this.canHandle()) {\n        this.scheduled = idle\n        return\n      }\n    }\n',
      ],
    ],
  },
  {
    name: 'an unstash outside of a turn wakes nobody',
    file: 'cell/turn/cell.ts',
    edits: [['    if ((this.scheduled & standing) === idle) this.rouse()\n', '']],
  },
  {
    name: "a supervisor's merged restart forgets who waits for its backoff",
    file: 'patterns/supervisor/answering.ts',
    edits: [['    for (const m of waiting.members) group.add(m)\n', '']],
  },
  {
    name: "a supervisor's merged restart ignores the order of needs",
    file: 'patterns/supervisor/answering.ts',
    edits: [['[...tree.members.values()].filter((m) => group.has(m))', '[...group]']],
  },
  {
    name: 'a restart group is never left by a member that fails on its own',
    file: 'cell/life/group-restart.ts',
    edits: [['    extras.group?.left(member)\n', '']],
  },
  {
    name: 'the hole that drop-oldest leaves in a heap is only filled downwards',
    file: 'queues/priority-heap.ts',
    edits: [
      ['        this.#settle(last)\n', '        this.#settle(last, true)\n'],
      ['  #settle(entry: Entry): void {\n', '  #settle(entry: Entry, down = false): void {\n'],
      ['      if (!this.#findUp(entry, way)) this.#findDown', '      if (down || !this.#findUp(entry, way)) this.#findDown'],
    ],
  },
  {
    name: 'a cancelled subscription delivers its buffer',
    file: 'system/event-stream.ts',
    edits: [
      ['        if (!this.active || this.#buffer.size === 0', '        if (this.#buffer.size === 0'],
      ['    this.#buffer = new MessageRing()\n    super.cancel()\n', '    super.cancel()\n'],
    ],
  },
]
