// What lies between two places, as a way uses it: how bytes go over, how a sleeper is woken, and what goes beside the bytes.
// What it is made of is for those who have places: rings of shared memory, message ports, or whatever is given.

/** A stream of frames from one thread to one other: one writer, one reader, and never more than `size` bytes under way. */
export interface ByteStream {
  readonly size: number
  /** Bytes that are written and not read; to a writer by ports also those whose reading was not acknowledged yet. */
  readonly used: number
  /** How many bytes of what `next` returned are the frame. */
  readonly frameLength: number
  /**
   * Writes a frame, or as much of it as there is room for; returns how many of its bytes went. A frame that goes in
   * parts is put together by the reader.
   */
  write(frame: Uint8Array, from: number, to: number): number
  /** The next whole frame, valid until the next call; undefined when there is none. */
  next(): Buffer | undefined
  /** The writer has more than fits and wants to be woken when there is room. */
  waitForRoom(): void
  /** Whether the writer waits for room; asked by the reader, once. */
  takeWait(): boolean
}

/** One thread's end of the connection with one other: a stream for each direction, and a way to wake. */
export interface Line {
  readonly out: ByteStream
  readonly in: ByteStream
  /** The most bytes that a record may have, where nothing goes beside it; half of what may be under way if left out. */
  readonly largest?: number | undefined
  /** Begins; from now on `onWake` is called when there is something to look at and this thread sleeps. Keeps no process alive. */
  open(onWake: () => void): void
  /** Wakes the peer if it sleeps. */
  ring(): void
  /** Wakes the peer even if it was rung for: by a thread, maybe, that is gone and took the wake with it. */
  nudge(): void
  close(): void
}

/** Where a thread says that it sleeps. */
export interface Bell {
  readonly asleep: boolean
  rest(): void
  rise(): void
}

/** By which values go that have no bytes: whole, in the order in which they were posted, and read when they are asked for. */
export interface SidePort {
  /** Throws what the platform says of what cannot be moved, and then nothing was. */
  post(value: unknown, moved: readonly unknown[]): void
  /** The next that came; undefined if there is none. */
  take(): unknown
  close(): void
}

/** Both, as one end of a way is given them. */
export interface LineEnd {
  readonly line: Line
  readonly side: SidePort
}
