// An evening in the rooms: people play, things happen to the nodes, and the referee reads the journal all the time. At the end everybody finishes the
// move that is under way, the rooms are asked what is on their tables, and all of it is compared.

import { openJournal } from '@troupe/persistence'
import { Director, wait } from './director.ts'
import { Guest } from './guest.ts'
import type { ClusterOptions } from './options.ts'
import { oneLine, picture } from './picture.ts'
import { player, seeded } from './players.ts'
import { Referee } from './referee.ts'
import type { Table } from './room.ts'
import { ScoreBoard } from './score-board.ts'
import { bold, dim, figure, green, isTerminal, keep, panel, red, say, yellow } from './screen.ts'
import type { Listener, Troop } from './troop.ts'

/** Between two looks. */
const every = 200

export interface Evening {
  readonly options: ClusterOptions
  /** Makes the nodes; the listener hears who ends. */
  readonly troop: (listener: Listener) => Troop
  /** Where the journal is, in words. */
  readonly store: string
  readonly over: AbortController
  /** Hears what keys are pressed. */
  readonly onKey: (hear: (key: string) => void) => void
}

/** Plays for a while; says whether nothing was lost. */
export async function evening({ options, troop: make, store, over, onKey }: Evening): Promise<boolean> {
  const { seconds: limit, strikes, lease, players, seed, chaos, pause: thinking } = options
  const started = performance.now()
  const now = (): number => performance.now() - started
  // Seconds since people began to play; before that, since this program did.
  let opened = 0
  const seconds = (): number => (now() - opened) / 1000
  const log = (what: string): void => say(dim(`${seconds().toFixed(1).padStart(7)} s   ${what}`))
  const troop = make((name, why) => director.ended(name, why))
  const names = Array.from({ length: options.rooms }, (_, i) => String(i + 1).padStart(2, '0'))
  const board = new ScoreBoard(names, now)
  const director = new Director(troop, {
    lease,
    random: seeded(seed + 1),
    calm: () => [...board.rooms.values()].every(({ heard, node }) => node !== undefined && now() - heard < 1000),
    say: log,
  })
  const referee = new Referee()
  let guest: Guest | undefined
  try {
    say(`${bold('Game rooms')}: ${figure(names.length)} rooms with ${figure(players)} players each, on three nodes; lease ${lease / 1000} s`)
    say(dim(`${troop.engine}; journal: ${store}`))
    say()
    await Promise.all(troop.nodes.map(({ name }) => director.start(name)))
    const rooms = await Guest.join({
      node: 'guest',
      engine: troop.own,
      lease,
      onJoined: ({ events }) =>
        events.listen(({ type, member }) => {
          if (type === 'ended') log(`the cluster has recorded the end of ${member.session.node}'s session`)
        }),
    })
    guest = rooms
    const journal = await openJournal(troop.journal)
    await referee.read(journal)
    const before = referee.found
    if (before > 0) log(`${figure(before)} moves of earlier evenings`)

    const random = seeded(seed)
    const habits = { random, pause: thinking, patience: lease * 2 }
    const seats = names.flatMap((room) =>
      Array.from({ length: players }, (_, i) => {
        const name = `p${i + 1}`
        const made = referee.tables.get(room)?.numbers[name] ?? 0
        return rooms.system.spawn(player(rooms, { room, player: name, made }, board, habits), { name: `${room}-${name}` })
      }),
    )
    onKey((key) => {
      if (key === 'q') over.abort()
      else if (/^[abc]$/.test(key)) void director.killOrStart(key)
      else if (/^[ABC]$/.test(key)) director.pauseOrResume(key.toLowerCase())
      else if (key === 'n') void director.outage()
    })
    opened = now()
    const striking = chaos ? director.chaos(over.signal) : Promise.resolve()
    const show = async (): Promise<void> => {
      await referee.audit(journal, board.numbers)
      rates.push([now(), board.acknowledged])
      if (rates.length > 10) rates.shift()
      const [[at, count], [until, reached]] = [rates[0]!, rates.at(-1)!]
      const rate = until > at ? ((reached - count) / (until - at)) * 1000 : 0
      const width = process.stdout.columns ?? 80
      if (isTerminal) panel(picture(troop, board, referee, before, { now: now(), seconds: seconds(), rate, width, keys: true }))
    }
    const rates: [number, number][] = []
    const isOver = (): boolean => (strikes === undefined ? seconds() >= limit : director.strikes >= strikes)
    for (let looks = 1; !over.signal.aborted && !isOver(); looks++) {
      await wait(Math.min(every, limit * 1000), over.signal)
      await show()
      if (!isTerminal && looks % 10 === 0) say(oneLine(troop, board, referee, before, seconds()))
      if (referee.lost > 0 || referee.problems.length > 0) over.abort()
    }
    over.abort()
    const ending = setInterval(() => void show(), every)
    await striking
    await director.calmDown()
    log('everybody finishes the move that is under way')
    await Promise.all(seats.map((seat) => seat.ask({ type: 'leave' }, { timeout: 120_000 })))
    const giveUp = now() + 60_000
    const look = async (room: string): Promise<Table> => {
      for (;;)
        try {
          return await rooms.ref(room).ask({ type: 'look' }, { timeout: lease * 2 })
        } catch (cause) {
          // Its node was lost, or ours: the next answers.
          if (now() > giveUp) throw cause
          await wait(every)
        }
    }
    const said = await Promise.all(names.map(async (room) => [room, await look(room)] as const))
    clearInterval(ending)
    await show()
    keep()
    for (const [room, table] of said) referee.compare(room, table)
    director.close()
    // Who plays goes first, and then one node after the other, so that each but the last has somebody to hand over to.
    await rooms.leave()
    for (const { name } of troop.nodes) await troop.leave(name)
    await referee.audit(journal, board.numbers)
    await journal.close()
    return verdict(board, referee, before, director.strikes)
  } finally {
    director.close()
    await guest?.leave({ deadline: 1000 })
    await troop.end()
  }
}

function verdict(board: ScoreBoard, referee: Referee, before: number, strikes: number): boolean {
  const { lost } = referee
  const found = referee.found - before
  const problems = [...board.problems, ...referee.problems]
  const well = lost === 0 && referee.doubled === 0 && problems.length === 0 && found === board.acknowledged && found > 0
  say()
  if (board.again > 0)
    say(
      dim(
        `  ${figure(board.again)} times nobody knew what had become of a move (${[...board.causes].map(([code, times]) => `${code} ${figure(times)}`).join(', ')}); it was made again, under the same number`,
      ),
    )
  for (const problem of problems) say(red(`  ${problem}`))
  if (found === 0) say(yellow('  nobody has moved at all, so that this run shows nothing; try more --seconds'))
  say(
    `${well ? green('✓') : red('✗')} acknowledged ${figure(board.acknowledged)}, found ${figure(found)}, lost ${figure(lost)}, doubled ${figure(referee.doubled)}; ${figure(strikes)} strikes, ${figure(board.moved)} times a room went to another node, longest silence ${(board.silence / 1000).toFixed(1)} s`,
  )
  return well
}
