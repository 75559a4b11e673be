// Bugs of a cluster, as patches on a copy of `packages`: each is caught by a named test, or simulated with the scenarios of the cluster until a
// promise breaks. Those of the ten traps that are ours are among them. As with the classics, a patch that no longer fits is an error, not a pass.

const decisions = 'cluster/src/membership/decisions.ts'
const lease = 'cluster/src/membership/lease.ts'
const membership = 'cluster/src/membership/membership.ts'
const claims = 'cluster/src/sharding/claims.ts'
const channels = 'cluster/src/channel/channels.ts'
const receiver = 'cluster/src/channel/receiver.ts'
const sender = 'cluster/src/channel/sender.ts'
const outbox = 'cluster/src/channel/outbox.ts'
const keeper = 'cluster/src/sharding/keeper.ts'
const region = 'cluster/src/sharding/region.ts'
const handOvers = 'cluster/src/sharding/hand-overs.ts'
const settling = 'cluster/src/sharding/settling.ts'
const routes = 'cluster/src/sharding/routes.ts'
const watchers = 'cluster/src/sharding/watchers.ts'
const watches = 'cluster/src/sharding/watches.ts'

const inTest = (file, name) => ({ file: `packages/cluster/test/${file}`, name })

export const cluster = [
  // Refs of actors of other nodes.
  {
    name: 'a link that is opened again has all its credit, whatever is under way',
    test: inTest('cluster/links.test.ts', 'a ref that is used again after its link was closed gets another, with order and bounds as before'),
    file: 'border/src/way/link.ts',
    edits: [
      ['window - (owed?.underWay ?? 0)', 'window'],
      ['mostBytes - (owed?.bytesUnderWay ?? 0)', 'mostBytes'],
    ],
  },
  {
    name: 'a link keeps its ref',
    test: inTest('cluster/links.test.ts', 'a ref of another node that is no longer held is collected, and its link is closed on both nodes'),
    file: 'border/src/way/link.ts',
    edits: [['this.#queue = new WeakRef(queue)', 'this.#queue = { deref: () => queue } as WeakRef<WireQueue>']],
  },
  {
    name: 'the end of an actor on a thread is not told to other nodes that know it',
    test: inTest(
      'cluster/links.test.ts',
      'an actor of a thread of a node that another node knows leaves nothing on it when it ends, and its watchers there hear of it',
    ),
    file: 'border/src/way/remote-ref.ts',
    edits: [['    for (const hook of extras.endHooks ?? []) hook()\n', '']],
  },
  // Leases and sessions.
  {
    name: 'a lease is trusted for longer than the registry keeps it',
    file: decisions,
    edits: [['const trusted = 0.9', 'const trusted = 1.2']],
    test: inTest(
      'membership/decisions.property.test.ts',
      'a lease is trusted for less than the registry keeps it, also by a clock that runs a tenth slower',
    ),
  },
  {
    name: 'a lease is trusted from when its renewal was answered',
    file: lease,
    edits: [['      this.#revision = revision\n      this.#renewed(sentAt)', '      this.#revision = revision\n      this.#renewed(this.#clock())']],
    test: inTest('membership/membership.test.ts', 'a lease is trusted from when its renewal was sent, however late the answer is'),
  },
  {
    name: 'a node whose session ended while it joined gives up',
    file: membership,
    edits: [['if (!(cause instanceof SessionEnded)) throw cause', 'throw cause']],
    test: inTest('membership/joining.test.ts', 'a node whose session others ended while it joined takes another one'),
  },
  {
    name: 'a node becomes a member though it reads that its session has ended',
    file: membership,
    edits: [['if (this.#over || this.#isEndListed())', 'if (this.#over && this.#isEndListed())']],
    test: inTest('membership/joining.test.ts', 'a node that reads while it joins that its session has ended'),
  },
  {
    name: 'a node that joined slowly renews its lease a third of it later',
    file: membership,
    edits: [["this.#set('beat', this.#lease.renewIn)", "this.#set('beat', this.#options.lease / 3)"]],
    test: inTest('membership/membership.test.ts', 'a node that took long to join renews its lease as long after it was taken as ever'),
  },
  {
    name: 'after an outage nobody waits for anybody',
    file: decisions,
    edits: [['return steadyFor >= lease &&', 'return steadyFor >= 0 &&']],
    test: inTest(
      'membership/decisions.property.test.ts',
      'no session is ended by a node that was not itself steady for a lease, nor before its time',
    ),
  },
  {
    name: 'a lease is counted by a clock that stands still while the machine is suspended',
    scenario: 'cluster clocks',
    file: 'cluster/src/node/cluster-node.ts',
    edits: [['        clock: leaseClockOf(runtime),\n', '        clock: leaseClockOf.length < 0 ? leaseClockOf(runtime) : () => runtime.now(),\n']],
  },
  {
    name: 'the clock of leases trusts the monotonic clock',
    file: 'cluster/src/membership/lease-clock.ts',
    edits: [['    return monotonic + this.#suspended\n', '    return monotonic\n']],
    test: inTest('membership/lease-clock.test.ts', 'a suspension counts in full as soon as the machine is awake'),
  },
  {
    name: 'a step of the wall clock counts as a suspension although there is a boot clock',
    file: 'cluster/src/membership/lease-clock.ts',
    edits: [['    if (boot === undefined) this.#suspended', '    if (boot === undefined || moved > 0) this.#suspended']],
    test: inTest('membership/lease-clock.test.ts', 'a step of the wall clock changes nothing where there is a boot clock'),
  },
  {
    name: 'a session whose lease key vanishes early ends a lease after the renewal that was seen last',
    file: decisions,
    edits: [['? goneAt + lease : lastSeen + lease', '? lastSeen + lease : lastSeen + lease']],
    test: inTest(
      'membership/decisions.property.test.ts',
      'a session whose key ran out ends a lease after its renewal was seen; one whose key vanished early a lease after that',
    ),
  },
  {
    name: 'a session ends when its lease key vanishes, however early',
    file: decisions,
    edits: [['return steadyFor >= lease && now >= endsAt', 'return steadyFor >= lease && now >= endsAt - lease']],
    test: inTest('membership/membership.test.ts', 'lease keys that vanish early end no session: each is put back within a third of the lease'),
  },
  {
    name: 'who comes back does not say so to who is about to record its end',
    file: lease,
    edits: [
      [
        '      await this.#registry.update(sessionKey(node), writeSession({ ...record, returns: record.returns + 1 }), session.revision)\n',
        '      void writeSession({ ...record, returns: record.returns + 1 })\n',
      ],
    ],
    test: inTest(
      'membership/membership.test.ts',
      'who comes back while another is about to record its end has not ended: the other finds another revision',
    ),
  },
  {
    name: 'a name is taken from a node that lives',
    file: decisions,
    edits: [["if (member.revision !== firstRevision) return 'taken'", "if (member.revision !== firstRevision) return 'take'"]],
    test: inTest('membership/membership.test.ts', 'a name is refused while its node lives, and given after a lease where it was killed'),
  },
  {
    name: 'the number of a session is given out twice',
    file: decisions,
    edits: [['Math.max((last ?? 0) + 1, Math.floor(wall))', 'Math.max(last ?? 0, Math.floor(wall))']],
    test: inTest(
      'membership/decisions.property.test.ts',
      'numbers grow, whatever the wall clock does, and never begin anew where the registry lost its data',
    ),
  },
  {
    name: 'nodes with different leases meet',
    file: membership,
    edits: [['if (other.lease !== lease) throw', 'if (other.lease !== lease && lease < 0) throw']],
    test: inTest('cluster/life.test.ts', 'a node with another lease is refused with both named'),
  },
  {
    name: 'nodes with different limits for messages meet',
    file: membership,
    edits: [['if (other.maxMessageBytes !== maxMessageBytes)', 'if (other.maxMessageBytes !== maxMessageBytes && lease < 0)']],
    test: inTest('cluster/message-limit.test.ts', 'a node with another limit is refused with both named'),
  },
  {
    name: 'a message as large as was agreed is taken for a hostile one',
    file: 'cluster/src/refs/node-line.ts',
    edits: [['this.#maxTogether = maxMessage + besideMessage', 'this.#maxTogether = besideMessage + maxMessage * 0']],
    test: inTest('cluster/message-limit.test.ts', 'messages up to that arrive'),
  },
  {
    name: 'one answer that is late ends a join',
    file: 'cluster/src/membership/retry.ts',
    edits: [['const giveUpAfter = 30_000', 'const giveUpAfter = 0']],
    test: inTest('cluster/slow-registry.test.ts', 'a node joins when the registry'),
  },
  {
    name: 'nodes of two clusters share an inbox',
    file: 'cluster/src/engines/nats/nats-layout.ts',
    edits: [['_INBOX_troupe.${cluster}.${node}', '_INBOX_troupe_${cluster}_${node}']],
    test: inTest('nats-refusals.test.ts', 'no node may listen where answers for a node of another cluster come'),
  },
  {
    name: 'a server that ignores leases is taken',
    file: 'cluster/src/engines/nats/nats-bucket.ts',
    edits: [['numbers !== undefined && isAtLeast(numbers)', 'numbers !== undefined && (isAtLeast(numbers) || numbers.length > 0)']],
    test: inTest('nats-refusals.test.ts', 'a server of version'),
  },
  // The channel.
  {
    name: 'frames of a connection that is over are taken by the next',
    file: channels,
    edits: [['theirs === channel.peer && (named || ours === 0)', '(theirs === channel.peer || ours === 0) && (named || ours === 0)']],
    test: inTest('channel/channel.test.ts', 'frames of a connection that is over are never taken by a later one, whatever they acknowledge or bring'),
  },
  {
    name: 'a frame of another connection is believed without an answer',
    file: channels,
    edits: [['if (ours === 0 && !peer.met) return', 'if (ours === 0 && channel?.close("reset", "forged") === undefined) return']],
    test: inTest('channel/forged.test.ts', 'one forged frame with the greatest number of a connection'),
  },
  {
    name: 'frames that a connection has taken are taken by the next',
    file: channels,
    edits: [['    if (theirs === peer.over) return this.#reset(peer, frame)\n', '']],
    test: inTest('channel/forged.test.ts', 'a frame that was taken is not taken again where its sender has heard of nothing'),
  },
  {
    name: 'a frame that names a connection that never was ends the one there is',
    file: channels,
    edits: [
      [
        '    if (ours !== 0 && !named) return this.#reset(peer, frame)\n',
        "    if (ours !== 0 && !named) return channel?.close('bad-frame', 'never was')\n",
      ],
    ],
    test: inTest('channel/forged.test.ts', 'a frame that names no connection of the receiver ends nothing'),
  },
  {
    name: 'what is missing on the other side is never noticed',
    file: sender,
    edits: [['if (ranges.some(([first, end]) => first <= base && base <= end)) return', 'if (ranges.some(([first]) => first < 0)) return']],
    test: inTest('channel/forged.test.ts', 'a forged acknowledgement of a frame that was lost ends the connection'),
  },
  {
    name: 'the way after a broken connection is never opened',
    file: 'cluster/src/refs/node-border.ts',
    edits: [
      [
        '    this.#lines.delete(place)\n    this.#names.delete(place)\n    const { sent, received } = this.exchange.renew(place, cause)\n',
        '    const { sent, received } = this.exchange.renew(place, cause)\n    this.#lines.delete(place)\n    this.#names.delete(place)\n',
      ],
    ],
    test: inTest('cluster/broken-connection.test.ts', 'what is told and asked after a break arrives'),
  },
  {
    name: 'a frame that comes twice is taken twice',
    file: receiver,
    edits: [['if (number <= this.#ack || this.#held.has(number))', 'if (this.#held.has(number))']],
    test: inTest('channel/channel.sim.test.ts', 'everything arrives once and in order, whatever happens on the way'),
  },
  {
    name: 'the window is not looked at',
    file: sender,
    edits: [['return this.#cost + costOf(size) <= this.#window', 'return costOf(size) <= this.#window']],
    test: inTest('channel/channel.test.ts', 'at most one window is under way to a peer that does not answer'),
  },
  {
    name: 'what waits for a peer is not bounded',
    file: outbox,
    edits: [['if (!this.empty && this.cost + size + more > this.#limit)', 'if (!this.empty && this.cost + size + more > this.#limit * 1_000)']],
    test: inTest('channel/channel.test.ts', 'at most one window is under way to a peer that does not answer'),
  },
  {
    name: 'a frame grows while it waits for room',
    file: 'cluster/src/refs/node-line.ts',
    edits: [['      if (this.#left === 0) this.#left = to - at\n', '      this.#left = to - at\n']],
    test: inTest(
      'cluster/attacks.test.ts',
      'large messages to many actors of a node at once arrive, though together they are more than may be under way',
    ),
  },
  {
    name: 'a frame that is larger than the window is never whole',
    file: 'cluster/src/refs/node-line.ts',
    edits: [['if (this.#together > size / 2) {', 'if (this.#together > size * 100) {']],
    test: inTest('cluster/attacks.test.ts', 'a message as large as a frame arrives, or is a dead letter where it was sent; what follows it arrives'),
  },
  {
    name: 'parts of a message are larger than the wire carries',
    file: 'cluster/src/refs/node-line.ts',
    edits: [['this.#partSize = Math.min(maxPart, maxPayload - partHead)', 'this.#partSize = Math.max(maxPart, maxPayload - maxPayload)']],
    test: inTest('cluster/payload-limit.test.ts', 'messages of every size arrive, in order'),
  },
  {
    name: 'a frame that no longer fits the wire is kept for ever',
    file: 'cluster/src/channel/channel.ts',
    edits: [['    if (frame.length > maxFrame())\n', '    if (frame.length > maxFrame() && frame.length < 0)\n']],
    test: inTest('cluster/payload-limit.test.ts', 'a server whose limit is smaller than that of the last one ends the connection once'),
  },
  {
    name: 'a server that takes too little is taken',
    file: 'cluster/src/engines/nats/nats-bucket.ts',
    edits: [['if (maxPayload >= minFrame) return', 'if (maxPayload >= minFrame || maxPayload > 0) return']],
    test: inTest('nats-refusals.test.ts', 'a server that takes less than 16 KB is refused with its limit'),
  },
  // Shards.
  {
    name: 'a shard is claimed from an owner that lives',
    file: claims,
    edits: [['sameSession(owner.session, self) || !ended(owner.session)', 'sameSession(owner.session, self) || (ended(owner.session) && false)']],
    test: inTest('sharding/sharding.property.test.ts', 'a shard is claimed where it should be ours and its owner has ended, and nowhere else'),
  },
  {
    name: 'an epoch is repeated where the registry lost its data',
    file: 'cluster/src/sharding/ownership.ts',
    edits: [['Math.max(registry ?? 0, journal ?? 0) + 1', 'Math.max(registry ?? 0, Math.min(journal ?? 0, 0)) + 1']],
    test: inTest('sharding/sharding.property.test.ts', 'an epoch is greater than all that registry and journal know of'),
  },
  {
    name: 'all shards are handed over at once',
    file: claims,
    edits: [['if (plan.length + underWay.size >= limit) break', 'if (plan.length >= limit) break']],
    test: inTest(
      'sharding/sharding.property.test.ts',
      'at most so many shards are handed over at once, each of ours, to one that lives and should have it',
    ),
  },
  {
    name: 'roles are not looked at',
    file: 'cluster/src/sharding/desired.ts',
    edits: [['role === undefined || member.roles.includes(role)', 'role === undefined || member.roles.length >= 0']],
    test: inTest('sharding/sharding.property.test.ts', 'only those with the role are candidates'),
  },
  {
    name: 'handlers begin past the lease',
    file: 'cluster/src/sharding/leased-mailbox.ts',
    edits: [['      if (!this.#gate.held) {', '      if (!this.#gate.held && this.#inner.size < 0) {']],
    test: inTest(
      'cluster/shards.test.ts',
      'K10: cut off from the engine a node begins no handler past its lease, and goes on when it is back in time',
    ),
  },
  {
    name: 'what follows a hand-over overtakes what went before it',
    file: routes,
    edits: [['return route.barrier === undefined && !waits(route)', 'return !waits(route)']],
    test: inTest('sharding/routes.test.ts', 'K1: what follows a change of owner waits until a barrier has come by the way of what went before'),
  },
  {
    name: 'a shard is handed over while its actors are at work',
    file: handOvers,
    edits: [
      [
        '      const epoch = (await this.#host.settled(shard)) ? await this.#host.rest(shard) : undefined\n',
        '      void this.#host.rest(shard)\n      const epoch = this.#host.seen(shard).owner?.epoch\n',
      ],
    ],
    test: inTest('cluster/hand-over.test.ts', "K8: a shard is named another's when its actors have ended, and not while one is at work"),
  },
  {
    name: 'a barrier overtakes what its shard had when it moved',
    file: routes,
    edits: [
      ['    this.#putBack(route, had)\n', ''],
      [
        '    this.#flush(route)\n  }\n\n  /** What is under way goes from',
        '    this.#flush(route)\n    this.leave(shard, had)\n  }\n\n  /** What is under way goes from',
      ],
    ],
    test: inTest('sharding/routes.test.ts', 'K1: what a shard had goes on before the barriers that came while it moved'),
  },
  {
    name: 'a shard is given to a node that is leaving',
    file: handOvers,
    edits: [['      if (!(await this.#isHost(to))) return false\n', '      await this.#isHost(to)\n']],
    test: inTest('cluster/hand-over.test.ts', 'a shard is not given to a node that is leaving, whatever the giver knows of that'),
  },
  {
    name: 'a shard that is only starting is handed over as it is',
    file: 'cluster/src/sharding/shards.ts',
    edits: [
      [
        '    if (there === undefined) return Promise.resolve(undefined)\n',
        "    if (there === undefined) return Promise.resolve(undefined)\n    if (there.state === 'starting') return Promise.resolve(there.epoch)\n",
      ],
    ],
    test: inTest('cluster/hand-over.test.ts', 'K8: a shard that is handed over before its fence is up begins no handler there any more'),
  },
  {
    name: 'a shard moves on while somebody still looks for it elsewhere',
    file: settling,
    edits: [
      [
        'if (epoch === undefined || this.#settled.get(shard) === epoch) return true',
        'if (epoch === undefined || this.#settled.get(shard) !== -1) return true',
      ],
    ],
    test: inTest('cluster/order.test.ts', 'K1: what a node sends arrives in order where a shard moves away and back, and the node hears of neither'),
  },
  {
    name: 'a shard that has not settled moves on with its batch',
    file: settling,
    edits: [['return !(await batch.unsettled).has(shard)', 'return (await batch.unsettled).has(shard) || shard >= 0']],
    test: inTest('sharding/settling.test.ts', 'a shard that'),
  },
  {
    name: 'shards are handed over four at a time, whatever the option says',
    file: keeper,
    edits: [['limit: this.#spec.concurrentHandOvers,', 'limit: Math.min(4, this.#spec.concurrentHandOvers),']],
    test: inTest('cluster/rolling.test.ts', 'K12: a node with 1,024 shards leaves within'),
  },
  {
    name: 'more shards are handed over at a time than the option says',
    file: keeper,
    edits: [['limit: this.#spec.concurrentHandOvers,', 'limit: 8 + this.#spec.concurrentHandOvers,']],
    test: inTest('cluster/rolling.test.ts', 'K12: at most so many shards are handed over at a time as the option says'),
  },
  {
    name: 'whether a node hosts the kind is read for each shard of a batch',
    file: handOvers,
    edits: [['    if (read === undefined) {\n', '    if (read === undefined || read !== undefined) {\n']],
    test: inTest('cluster/rolling.test.ts', 'what the shards of a batch have in common is read once'),
  },
  {
    name: 'a node that was refused a kind keeps its shards from moving',
    file: region,
    edits: [['      this.#refused = true\n', '      this.#refused = false\n']],
    test: inTest('cluster/order.test.ts', 'a node that was refused the kind, and sends nothing to anybody, keeps no shard from moving'),
  },
  {
    name: 'what has arrived is taken to be handled',
    file: routes,
    edits: [['    route.barrier = undefined\n    this.#wentTo(route)\n', '    route.barrier = undefined\n    route.wentTo = undefined\n']],
    test: inTest('sharding/routes.test.ts', 'K1: what has arrived at an owner may be moved on by it: the next change of owner is waited for, too'),
  },
  {
    name: 'what an owner that ended passed on is overtaken',
    file: routes,
    edits: [
      [
        'void this.#host.endKnown(session, owner.session).then(() => this.ready(route.shard, token))',
        'void session\n    this.ready(route.shard, token)',
      ],
    ],
    test: inTest(
      'sharding/routes.test.ts',
      'K1: what an owner passed on before it ended may arrive late: what follows waits until the next owner knows of that end',
    ),
  },
  {
    name: 'what others send by a node that knows no owner is not bounded',
    file: routes,
    edits: [["if (item.is === 'letter' && !this.#host.backlog.admit(item)) this.#refuse(item)\n    else route", 'route']],
    test: inTest(
      'sharding/routes.test.ts',
      'K6: what others pass by a node that knows no owner is bounded; more are dead letters no-owner, and what waited goes on in order',
    ),
  },
  {
    name: 'what waits for a shard that starts is not bounded',
    file: 'cluster/src/sharding/shards.ts',
    edits: [
      [
        "    if (item.is !== 'letter' || backlog.admit(item)) return true\n",
        "    if (item.is !== 'letter' || backlog.admit(item) || backlog.bytes >= 0) return true\n",
      ],
    ],
    test: inTest('cluster/bounds.test.ts', 'a shard that does not start because its journal is slow keeps 64 MiB; more are dead letters on its node'),
  },
  {
    name: 'a node that leaves tells only those whom it knew',
    file: region,
    edits: [['    await membership.refresh()\n', '    void membership\n']],
    test: inTest(
      'cluster/hand-over.test.ts',
      'K12: whoever joined while a node was about to leave, and is not known to it yet, loses nothing by sending to it',
    ),
  },
  {
    name: 'a node that leaves forgets what it is registering',
    file: region,
    edits: [['    await this.ready.catch(() => {})\n', '']],
    test: inTest('cluster/life.test.ts', 'K12: a node that leaves while its kind is only being registered, or while another joins, loses nothing'),
  },
  {
    name: 'who asks a kind that no node hosts hears of a timeout',
    file: region,
    edits: [['this.#keeper.hosted === false) ask.fail', 'this.#keeper.hosted === undefined) ask.fail']],
    test: inTest('cluster/unhosted.test.ts', 'an ask of a kind that no node hosts is rejected by an error that says so'),
  },
  {
    name: 'two journals for one kind',
    file: region,
    edits: [['        await this.#keys.write()\n        isHost = true\n', '        await this.#keys.write()\n        return\n']],
    test: inTest(
      'cluster/life.test.ts',
      'of two nodes with different journals that register a kind at the same time one has it, and the other is refused',
    ),
  },
  {
    name: 'nodes that differ in the role of a kind give its shards to each other',
    file: region,
    edits: [['return hosts && (record.role !== mine.role ||', 'return hosts && (']],
    test: inTest('cluster/kind-agreement.test.ts', 'a node that registers a kind with other settings is refused with an error that names both'),
  },
  {
    name: 'a node whose record cannot be read is overlooked, whatever it speaks',
    file: membership,
    edits: [
      ['if (speaks !== undefined && commonVersion', 'if (speaks !== undefined && readMember(nodeIn(key), value) !== undefined && commonVersion'],
    ],
    test: inTest(
      'membership/membership.test.ts',
      'nodes without a common version of the wire refuse each other by name, also where one cannot read the record of the other',
    ),
  },
  {
    name: 'a kind is compared with a record that a host has replaced',
    file: region,
    edits: [['        if ((await registry.read(kindKey(kind)))?.revision !== there!.revision) continue\n', '']],
    test: inTest(
      'cluster/kind-agreement.test.ts',
      'a node that read the record of a kind before another node with the same journal replaced it has the kind too',
    ),
  },
  {
    name: 'a host that is not known as a member does not count',
    file: region,
    edits: [['if (!(await this.#node.membership.hasEnded(session as Session))) others', 'if (this.#node.isMember(session as Session)) others']],
    test: inTest('cluster/kind-agreement.test.ts', 'a node with another journal is refused though it has not heard yet that the host has joined'),
  },
  {
    name: 'a node that joins has the time of a renewal',
    file: membership,
    edits: [['() => this.#lease.take())', '() => this.#lease.renew())']],
    test: inTest('membership/joining.test.ts', 'a node joins though all the answers that it needs together take longer than its lease'),
  },
  {
    name: 'what is on the threads of a node is not counted',
    file: 'cluster/src/ledger/cluster-ledger.ts',
    edits: [['    if (threads === undefined) return then(write())\n', '    if (threads === undefined || this.#beat >= 0) return then(write())\n']],
    test: inTest(
      'cluster/ledger.test.ts',
      'K3: what is on the threads of a node is in the ledger of the cluster, and in what is known of it when it is gone',
    ),
  },
  {
    name: 'what was told of the directory is lost with a connection',
    file: 'cluster/src/node/cluster-node.ts',
    edits: [['    this.receptionist.reconnected(peer)\n', '']],
    test: inTest('cluster/broken-connection.test.ts', 'who is registered on the other node, and who no longer is, is known after a break'),
  },
  {
    name: 'who left while a connection broke stays in the directory',
    file: 'cluster/src/node/cluster-receptionist.ts',
    edits: [['if (service.stale.delete(from) && isWhole &&', 'if (service.stale.delete(from) && !isWhole &&']],
    test: inTest('cluster/broken-connection.test.ts', 'who is registered on the other node, and who no longer is, is known after a break'),
  },
  {
    name: 'all owners are listed once a lease, whether anything has changed or not',
    file: 'cluster/src/sharding/shard-table.ts',
    edits: [['if (fingerprint === this.#fingerprint) return', "if (fingerprint === this.#fingerprint && fingerprint === '') return"]],
    test: inTest('cluster/crowd.test.ts', 'what a node asks of the registry while nothing happens does not grow with the number of shards'),
  },
  {
    name: 'what no hint has told of is never listed',
    file: 'cluster/src/sharding/shard-table.ts',
    edits: [['    await this.list()\n    this.#fingerprint = fingerprint\n', '    this.#fingerprint = fingerprint\n']],
    test: inTest('cluster/crowd.test.ts', 'what no hint has told of is found within a lease and a third'),
  },
  {
    name: 'nodes that are late are read one by one, however many there are',
    file: membership,
    edits: [['const readAlone = 3', 'const readAlone = 3_000']],
    test: inTest('membership/membership.test.ts', 'where hints of many nodes are missing, they are listed and not read one by one'),
  },
  {
    name: 'a hint about one node is news of no node',
    file: 'cluster/src/membership/members.ts',
    edits: [["const nodes = news.type === 'hint' ? [nodeIn(news.key)]", "const nodes = news.type === 'hint' ? []"]],
    test: inTest('membership/membership.test.ts', 'K4: the end of a node that was killed is told to all'),
  },
  {
    name: 'lists of the registry overlap',
    file: 'cluster/src/membership/mirror.ts',
    edits: [['this.#lists.then(() => this.#list(list))', 'this.#list(list)']],
    test: inTest('membership/mirror.property.test.ts', 'lists never overlap'),
  },
  // Actors that stop at once.
  {
    name: 'an actor that stopped before it had taken a message has a successor for it',
    file: 'cluster/src/sharding/entities.ts',
    edits: [
      ['    return leaves === undefined && (reason', '    return hasNoSuccessor && leaves === undefined && (reason'],
      ['interface Entity {', 'const hasNoSuccessor = false as boolean\n\ninterface Entity {'],
    ],
    test: inTest('cluster/stopped-at-start.test.ts', 'is made once for what waits for it, which become dead letters'),
  },
  {
    name: 'an actor that stopped while its node may not act has no successor',
    file: 'cluster/src/sharding/entities.ts',
    edits: [[' && !mailbox.hasGiven && this.#host.gate.held', ' && !mailbox.hasGiven']],
    test: inTest('cluster/stopped-at-start.test.ts', 'that stops while its node may not act'),
  },
  // Actors that are slow.
  {
    name: 'credit is not given back for what an actor takes',
    scenario: 'cluster slow',
    file: 'cluster/src/sharding/letter-credit.ts',
    edits: [['    credits?.taken(this.origin, this.#offered)\n', '    void credits\n']],
  },
  {
    name: 'credit is given before the mailbox has room',
    file: 'cluster/src/sharding/entities.ts',
    edits: [
      [
        '    entering.add(waiting)\n    queue.wait!(waiting)\n',
        '    entering.add(waiting)\n    if (meta instanceof LetterCredit) meta.entered(windowOf(cell))\n    queue.wait!(waiting)\n',
      ],
    ],
    test: inTest('cluster/slow-actors.test.ts', 'an offer to an actor of another node waits for room in its mailbox'),
  },
  {
    name: 'credit comes back when a letter arrives, not when it is taken',
    file: 'cluster/src/sharding/entities.ts',
    edits: [
      [
        '      handTo(cell, message, meta)\n',
        "      handTo(cell, message, meta instanceof LetterCredit ? (meta.end('refused', undefined), meta.inner) : meta)\n",
      ],
    ],
    test: inTest('cluster/slow-actors.test.ts', 'a flood of tells from another node stays there'),
  },
  {
    name: 'what was offered is refused by a mailbox that is full when it arrives',
    file: 'cluster/src/sharding/entities.ts',
    edits: [['if (letter.entry === entry.told || options', 'if (letter.entry <= entry.offered || options']],
    test: inTest('cluster/slow-actors.test.ts', 'an offer to an actor of another node waits for room in its mailbox'),
  },
  {
    name: 'what waits for an actor stays when the node of the actor is lost',
    file: routes,
    edits: [[' || lost.length > 0) this.#flush(route)', ') this.#flush(route)']],
    test: inTest('cluster/slow-actors.test.ts', 'when its shard is handed over'),
  },
  {
    name: 'what was under way to a node that is lost counts for ever',
    file: routes,
    edits: [['      for (const account of lost) this.#accounts.reset(account)\n', '']],
    test: inTest('cluster/slow-actors.test.ts', 'offers that wait go to the next owner when theirs is killed'),
  },
  {
    name: 'credit that is lost with a connection is waited for',
    file: routes,
    edits: [['      for (const account of accounts) this.#accounts.reset(account)\n', '']],
    test: inTest('cluster/slow-actors.test.ts', 'after a connection broke what is offered and told arrives'),
  },
  {
    name: 'offers are taken though they would wait behind what waits for the owner',
    file: routes,
    edits: [[' && route.own.length === 0 && mayGo()) {', ' && mayGo()) {']],
    test: inTest('cluster/slow-actors.test.ts', 'offers that wait for room are not taken at once'),
  },
  {
    name: 'what was offered while no owner was known leaves all at once',
    file: 'cluster/src/sharding/accounts.ts',
    edits: [['this.#hasCredit && (how !== entry.offered || this.#hasWindow)', 'this.#hasCredit && how <= entry.kept']],
    test: inTest('cluster/slow-actors.test.ts', 'offers that were taken while no owner was known'),
  },
  {
    name: 'offers that were given up are kept',
    file: 'cluster/src/sharding/accounts.ts',
    edits: [['    for (const offer of this.offers.drain()) if (!offer.waiting.ended) this.offers.push(offer)\n', '']],
    test: inTest('cluster/slow-actors.test.ts', 'offers and questions that were given up are not kept'),
  },
  {
    name: 'offers to another node that were given up are kept',
    file: 'border/src/way/wire-queue.ts',
    edits: [['this.#offers = this.#offers.filter((offer) => !offer.ended)', 'void 0']],
    test: inTest('cluster/refs.test.ts', 'offers and questions to a node that is cut off are not kept when they were given up'),
  },
  // The journal.
  {
    name: 'a node that does not reach its journal is given work',
    file: 'cluster/src/sharding/journal-watch.ts',
    edits: [["return this.#reach !== 'reached'", "return this.#reach === 'lost'"]],
    test: inTest('cluster/journal-away.test.ts', 'is not ready at once, hands its shards over after a while'),
  },
  {
    name: 'a node that does not reach its journal keeps its shards',
    file: 'cluster/src/sharding/journal-watch.ts',
    edits: [["now - since >= timeout ? 'lost'", "now - since >= timeout ? 'away'"]],
    test: inTest('cluster/journal-away.test.ts', 'is not ready at once, hands its shards over after a while'),
  },
  {
    name: 'shards are handed over to a node that does not reach the journal either',
    file: region,
    edits: [["away: 'suspended'", "away: 'host'"]],
    test: inTest('cluster/journal-away.test.ts', 'a node that has just ceased to reach the journal is handed no shards'),
  },
  {
    name: 'a shard is handed over once its journal answers',
    file: region,
    edits: [
      [
        '    if (!this.spec.persistent || this.#node.journal.isAway) return Promise.resolve(0)\n',
        '    if (!this.spec.persistent) return Promise.resolve(0)\n',
      ],
      [
        'return Promise.race([this.#tenancy!.epochOf(shard).catch(() => 0), late])',
        'return Promise.race([this.#tenancy!.epochOf(shard), late.then(() => new Promise<number>(() => {}))])',
      ],
    ],
    test: inTest('cluster/journal-away.test.ts', 'is not ready at once, hands its shards over after a while'),
  },
  {
    name: 'a list is believed that a copy behind the leader has answered',
    file: 'cluster/src/engines/nats/nats-registry.ts',
    edits: [['if (upTo === undefined || upTo < since) return', 'if (upTo === undefined || since < 0) return']],
    test: inTest('nats-batch.test.ts', 'a copy that is behind the leader is not believed: each key is read from the leader'),
  },
  // Watches of sharded actors.
  {
    name: 'the loss of a node is not told to those who watch its sharded actors',
    file: watchers,
    edits: [['    this.own.lost(session)\n', '']],
    test: inTest('cluster/watches.test.ts', 'the loss of the node is told of once, within the lease and 2 s, to all who watch an actor of it'),
  },
  {
    name: 'a watch of a sharded actor that has moved is dropped where it was',
    file: routes,
    edits: [["    if (item.is === 'watch') this.#host.watchers.elsewhere(item, epoch)\n", "    if (item.is === 'watch') return\n"]],
    test: inTest('cluster/watches.test.ts', 'a watch that comes while its shard moves finds the actor where that is'),
  },
  {
    name: 'the watch of a sharded actor is told of twice',
    scenario: 'cluster watches',
    file: watches,
    edits: [['    this.#sent.delete(token)\n    watch.onEnd(end)\n', '    watch.onEnd(end)\n']],
  },
  {
    name: 'a sharded actor that falls asleep has stopped by itself',
    file: 'cluster/src/sharding/entities.ts',
    edits: [["      entity.leaves ??= 'silent'\n", '']],
    test: inTest('cluster/watches.test.ts', 'one that is passivated is told of by a reason of its own'),
  },
  {
    name: 'those who watch a sharded actor whose shard moves are forgotten',
    file: 'cluster/src/sharding/entities.ts',
    edits: [['    if (entity.watchers.size > 0) for', "    if (entity.watchers.size > 0 && entity.leaves !== 'moves') for"]],
    test: inTest('cluster/watches.test.ts', 'a shard that moves puts its actors to sleep, and those who watch hear so once'),
  },
  {
    name: 'the end of a sharded actor is told of once, whatever becomes of the connection',
    scenario: 'cluster watches broken',
    file: watchers,
    edits: [
      ['if (outcome !== undefined) this.#tell(name, outcome)\n  }\n}', 'if (outcome === undefined) this.#tell(name, outcome as never)\n  }\n}'],
    ],
  },
  {
    name: 'a watch of a sharded actor that was lost with a connection is not sent again',
    scenario: 'cluster watches broken',
    file: watchers,
    edits: [['    this.own.broken(peer)\n', '']],
  },
  {
    name: 'a watch of a sharded actor that is given up is kept',
    file: watches,
    edits: [["    else this.#host.post.send(to.session, ['unwatch', this.#self, token])\n", '']],
    test: inTest('cluster/watches.test.ts', 'nothing is kept of a watch that is given up, or whose watcher has stopped'),
  },
  {
    name: 'a watch of a sharded actor overtakes what was sent to it before',
    file: 'cluster/src/node/entity-refs.ts',
    edits: [['    this.#core.runtime.wake(task)\n', '    task()\n']],
    test: inTest('cluster/watches.test.ts', 'who watches and tells something in one turn watches the actor that is made for it, in either order'),
  },
  // Whoever uses it, and whoever is hostile.
  {
    name: 'what another node says of itself is taken unread',
    file: 'cluster/src/ledger/ledger-records.ts',
    edits: [['  if (isAccount(account)) return', '  if (isAccount(account) || account !== undefined) return']],
    test: inTest(
      'cluster/hostile.test.ts',
      'records that are none of a node end the connection they came by; the next one works, and what was counted still adds up',
    ),
  },
  {
    name: 'a listener that throws keeps others from hearing',
    file: 'cluster/src/membership/member-listeners.ts',
    edits: [['        this.#onThrow(cause)\n', '        throw cause\n']],
    test: inTest('cluster/life.test.ts', 'a listener that throws keeps nobody from hearing'),
  },
  {
    name: 'leaving twice ends the first',
    file: 'cluster/src/node/cluster-node.ts',
    edits: [['return (this.#leaving ??= this.#leave(deadline))', 'return (this.#leaving = this.#leave(deadline))']],
    test: inTest('cluster/life.test.ts', 'leaving twice is leaving once: all is handed over'),
  },
  // Budgets that are not given back.
  {
    name: 'a budget keeps the bytes of messages to another node whose actor ended',
    file: 'border/src/way/wire-queue.ts',
    edits: [['    if (message !== undefined) this.#took()\n', '']],
    test: inTest(
      'cluster/refs.test.ts',
      'what waits for an actor of another node that has ended is a dead letter, and its bytes are free for others',
    ),
  },
  {
    name: 'mail waits for other nodes when the own session has ended',
    file: 'cluster/src/node/post.ts',
    edits: [['if (exchange.isLost(place)) return undefined', 'if (this.#border.places.isGone(place)) return undefined']],
    test: inTest('cluster/refs.test.ts', 'a node whose session has ended refuses mail for others, those included that it hears of later'),
  },
  {
    name: 'a budget keeps what waited for a sharded actor that cannot be made',
    file: 'cluster/src/sharding/entities.ts',
    edits: [['        backlog.release(letter)\n        return refuse(letter, core.phase', '        return refuse(letter, core.phase']],
    test: inTest('cluster/shards.test.ts', 'what waited for an owner, and for which no actor can be made, is a dead letter and counts no longer'),
  },
  {
    name: 'a budget keeps what waited for the credit of a sharded actor',
    file: 'cluster/src/sharding/accounts.ts',
    edits: [['    this.backlog.release(letter)\n    return letter', '    return letter']],
    test: inTest(
      'cluster/slow-actors.test.ts',
      'a flood of tells from another node stays there; one actor that takes nothing keeps no other waiting',
    ),
  },
  {
    name: 'a budget keeps what moves from one backlog to another',
    file: 'cluster/src/sharding/backlog.ts',
    edits: [['    from.release(letter)\n', '    if (from === this) from.release(letter)\n']],
    test: inTest(
      'cluster/slow-actors.test.ts',
      'offers that were taken while no owner was known leave as the mailbox has room, before what was told later',
    ),
  },
]
