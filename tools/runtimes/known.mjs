// Tests that are about one runtime, or meet what another one lacks: not run there, and counted as skipped with their reason. An entry
// that no test answers to any more fails the command, so the list cannot outlive its causes. `test` is the whole name, or with an asterisk
// at its end how it begins; `*` alone is a whole file.

/** @type {readonly { on: readonly string[], file: string, test: string, note: string }[]} */
export const known = [
  {
    on: ['bun'],
    file: 'packages/persistence/test/sqlite.test.ts',
    test: 'sqliteJournal() keeps the contract of a journal > after many groups nothing of them stays in memory',
    note: 'has no gc of V8, which the test needs',
  },
  {
    on: ['bun'],
    file: 'packages/sqlite/src/sqlite-driver.test.ts',
    test: 'rows go on though nobody keeps their statement, and a selection once leaves no lock behind',
    note: 'has no gc of V8, which the test needs',
  },
  {
    on: ['chromium'],
    file: 'packages/testkit/src/crew/crew.test.ts',
    test: '*',
    note: 'needs child processes, which a page has not',
  },
  {
    on: ['node26'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'is refused, with what to use instead > a socket for datagrams',
    note: 'hides the descriptor of a UDP socket, which the test needs',
  },
  {
    on: ['bun'],
    file: 'packages/core/src/patterns/actor-class.test.ts',
    test: 'awaiting, logging, comparing, spreading and serialising a handle sends nothing',
    note: 'util.inspect throws on a handle',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/faults.test.ts',
    test: 'a thread is lost > by running out of memory',
    note: 'a worker has no limit of memory',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/ports.test.ts',
    test: 'by ports > a thread is lost > by running out of memory',
    note: 'a worker has no limit of memory',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/unshared.test.ts',
    test: '*',
    note: 'cannot be started without shared memory',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/edges.test.ts',
    test: 'signals that cannot be caught fail the actor, and none of the others stays caught',
    note: 'listens for SIGKILL without an error',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/hostile.test.ts',
    test: 'a child process that does not read is one error and its end, however much was written',
    note: 'does not count what waits to be read by a child',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/misuse.test.ts',
    test: 'a child process is written bytes only; what it never takes is told once, and killing it asks for that',
    note: 'does not count what waits to be read by a child',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/http-garbage.test.ts',
    test: 'a WebSocket handshake behind a streaming answer is answered behind it, taken or refused',
    note: 'takes an upgrade behind an open answer for a plain request',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/http-garbage.test.ts',
    test: 'OPTIONS * has the path *, and a target that is none gets 400, not the page at /',
    note: 'refuses OPTIONS *',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/http.test.ts',
    test: 'garbage gets 400, and a shutdown ends open connections',
    note: 'closeAllConnections spares those that have sent nothing',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'a program that adopts what it was started with > *',
    note: 'does not read descriptors that are open already',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'the ends of a pipe are told by what they can do, and closed with their actors',
    note: 'does not read descriptors that are open already',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'without `readable` or `writable` a descriptor is read, and told as any connection',
    note: 'does not read descriptors that are open already',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'is refused, with what to use instead > a socket for datagrams',
    note: 'does not read descriptors that are open already',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/tcp.test.ts',
    test: 'under restart a client whose error is unowned connects again, with backoff, until the server is there',
    note: 'a connect to a path fails on the spot, so that `closed` is heard before the restart',
  },
  {
    on: ['bun'],
    file: 'packages/node/test/fuzz.test.ts',
    test: 'npm run fuzz:border sends values, feeds the reader bytes and tells how much of it they ran through',
    note: 'its inspector does not tell which lines ran',
  },
  {
    on: ['bun'],
    file: 'packages/observer/test/page/attacks.test.ts',
    test: 'a head of more than 8 KB is cut off',
    note: 'closes the connection without an answer',
  },
  {
    on: ['bun'],
    file: 'packages/observer/test/page/attacks.test.ts',
    test: 'two requests hidden in one are not two',
    note: 'closes the connection without an answer',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/faults.test.ts',
    test: 'a thread is lost > by running out of memory',
    note: 'a worker out of memory has its code torn off without an error, and lives on',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/ports.test.ts',
    test: 'by ports > a thread is lost > by running out of memory',
    note: 'a worker out of memory has its code torn off without an error, and lives on',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'a program that adopts what it was started with > talks over a TCP connection that another process accepted',
    note: 'opens only some descriptors that are open already',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'the ends of a pipe are told by what they can do, and closed with their actors',
    note: 'opens only some descriptors that are open already',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'without `readable` or `writable` a descriptor is read, and told as any connection',
    note: 'opens only some descriptors that are open already',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/descriptors.test.ts',
    test: 'is refused, with what to use instead > a socket for datagrams',
    note: 'opens only some descriptors that are open already',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/hostile.test.ts',
    test: 'peers that are turned away fill no mailbox: the owner is told of some, and how many more there were',
    note: 'does not tell whom maxConnections turned away',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/tcp.test.ts',
    test: 'too many connections are refused to the peer and told to the owner',
    note: 'does not tell whom maxConnections turned away',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/hostile.test.ts',
    test: 'more changed files than anybody looks at are told as one change without a name',
    note: 'fs.watch sums up and repeats otherwise',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/resources.test.ts',
    test: 'a watched folder tells of changes, a burst as one',
    note: 'fs.watch sums up and repeats otherwise',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/resources.test.ts',
    test: 'datagrams beyond the credits are dropped and told',
    note: 'takes in datagrams later than the test waits',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/resources.test.ts',
    test: 'a child that ignores SIGTERM is killed after its time when its actor stops',
    note: 'takes a child for ended that was only sent a signal',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/resources.test.ts',
    test: 'SIGTERM shuts the system down gracefully, messages drained',
    note: 'takes a child for ended that was only sent a signal',
  },
  {
    on: ['deno'],
    file: 'packages/node/test/udp.test.ts',
    test: 'a restart binds the same port again, though datagrams of the last incarnation were still on their way; they are told as dropped',
    note: 'the port of a UDP socket is still taken for a while after its close',
  },
]

export function knownOn(runtime, file) {
  return known.filter((entry) => entry.on.includes(runtime) && entry.file === file)
}
