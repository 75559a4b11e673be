// The loop of the host as threads use it: when something runs that no actor asked for. Everything between threads that waits
// does so here, so that a place can live on a loop that somebody else turns.

/** The loop of the host, as places use it. */
export interface Loop {
  /** Before the host serves anything else. */
  microtask(task: () => void): void
  /** After the host has served its events. */
  soon(task: () => void): void
  /** Once, after so many milliseconds; returns what cancels it. */
  after(ms: number, task: () => void): () => void
  /** Again and again; keeps no process alive. Returns what ends it. */
  every(ms: number, task: () => void): () => void
}

/** The loop of the host itself. */
export const hostLoop: Loop = {
  microtask: (task) => queueMicrotask(task),
  soon: (task) => void setImmediate(task),
  after: (ms, task) => {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  every: (ms, task) => {
    const timer = setInterval(task, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
