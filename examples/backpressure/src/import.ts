// A reader that is a hundred times faster than the writer it feeds. The writer's mailbox blocks, so that the reader waits;
// the progress display drops what is old, so that it never holds anybody up.

import { type ActorRef, type ActorSystem, bounded, receive, same } from '@troupe/core'

/** One line of the file. */
export interface Row {
  readonly line: number
}

/** What happened, for those who look at it afterwards. */
export interface Imported {
  readonly written: number
  /** The most rows that waited at any time. */
  readonly most: number
  /** What the display showed; it need not be every row. */
  readonly shown: readonly number[]
}

/** How long the writer takes for a row. */
export type Pause = () => Promise<void>

export async function importRows(system: ActorSystem, rows: Iterable<Row>, pause: Pause, capacity: number): Promise<Imported> {
  const shown: number[] = []
  const display = system.spawn<number>(
    receive(async (_ctx, line) => {
      shown.push(line)
      await pause()
      await pause()
      await pause()
    }),
    { name: 'display', mailbox: bounded(1, 'drop-oldest') },
  )
  let written = 0
  let most = 0
  const writer: ActorRef<Row> = system.spawn<Row>(
    receive(async (ctx, { line }) => {
      const { queued } = await system.inspect(ctx.self)
      most = Math.max(most, queued)
      await pause()
      written++
      display.tell(line)
      return same
    }),
    { name: 'writer', mailbox: bounded(capacity, 'block') },
  )
  // The loop is all there is to backpressure: the next row is read when the last one was taken.
  for (const row of rows) await writer.offer(row)
  writer.stop({ after: 'queued' })
  await system.whenTerminated(writer)
  display.stop({ after: 'queued' })
  await system.whenTerminated(display)
  return { written, most, shown }
}
