// Keeps a process from ending while a worker is in a statement of SQLite: one driver aborts the process then, and every one may leave work
// to recovery. One shared number: the worker enters and leaves, and a process that ends waits until it is out and lets it enter no more.

const [idle, busy, closed] = [0, 1, 2]

/** The worker begins; false if the process ends, and nothing may begin any more. */
export function enter(guard: Int32Array): boolean {
  return Atomics.compareExchange(guard, 0, idle, busy) === idle
}
export function leave(guard: Int32Array): void {
  Atomics.compareExchange(guard, 0, busy, idle)
  Atomics.notify(guard, 0)
}

/** Waits until the worker is out, and closes the door behind it. Returns whether it was out in time. */
export function shut(guard: Int32Array, timeoutMs: number): boolean {
  for (;;) {
    const state = Atomics.compareExchange(guard, 0, idle, closed)
    if (state !== busy) return true
    if (Atomics.wait(guard, 0, busy, timeoutMs) === 'timed-out') return false
  }
}
