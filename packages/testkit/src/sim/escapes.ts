// C13 needs to know of errors that reached the process. Where there is a process (Node, Bun, Deno), its two events are
// listened to while simulations run; elsewhere nothing is seen.

interface Process {
  on(event: string, listener: (cause: unknown) => void): void
  off(event: string, listener: (cause: unknown) => void): void
}

const { process } = globalThis as unknown as { readonly process?: Process }
const causes: unknown[] = []
const listener = (cause: unknown): void => void causes.push(cause ?? 'undefined')

/** Listens until the returned function is called. */
export function listenForEscapes(): () => void {
  causes.length = 0
  process?.on('unhandledRejection', listener)
  process?.on('uncaughtException', listener)
  return () => {
    process?.off('unhandledRejection', listener)
    process?.off('uncaughtException', listener)
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
