// C13 needs to know of errors that reached the host. Where there is a process (Node, Bun, Deno), its two events are listened to
// while simulations run; in a page, those of its window.

interface Process {
  on(event: string, listener: (cause: unknown) => void): void
  off(event: string, listener: (cause: unknown) => void): void
}

interface WindowEvent {
  readonly reason?: unknown
  readonly error?: unknown
  preventDefault(): void
}
interface Window {
  addEventListener(event: string, listener: (event: WindowEvent) => void): void
  removeEventListener(event: string, listener: (event: WindowEvent) => void): void
}

const host = globalThis as unknown as Partial<Window> & { readonly process?: Process }
const causes: unknown[] = []
const listener = (cause: unknown): void => void causes.push(cause ?? 'undefined')
const windowListener = (event: WindowEvent): void => {
  // It is told as a violation; a listener of a process keeps it from being printed as well.
  event.preventDefault()
  listener(event.reason ?? event.error)
}

/** Listens until the returned function is called. */
export function listenForEscapes(): () => void {
  causes.length = 0
  const { process } = host
  if (process === undefined) {
    for (const event of ['unhandledrejection', 'error']) host.addEventListener?.(event, windowListener)
    return () => {
      for (const event of ['unhandledrejection', 'error']) host.removeEventListener?.(event, windowListener)
    }
  }
  process.on('unhandledRejection', listener)
  process.on('uncaughtException', listener)
  return () => {
    process.off('unhandledRejection', listener)
    process.off('uncaughtException', listener)
  }
}

/** The first error that escaped since the last call, if any. */
export function escaped(): unknown {
  return causes.length === 0 ? undefined : causes.splice(0)[0]
}

/** Forgets what came late, so that it is not held against the next run. */
export function settledEscapes(): void {
  causes.length = 0
}
