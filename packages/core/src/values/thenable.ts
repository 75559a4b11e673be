// Promises by what they can do, since they come from anywhere, and what to do with one that nobody wanted.

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false
  try {
    return 'then' in value && typeof value.then === 'function'
  } catch {
    // As with `await`: what cannot be asked is a rejection.
    return true
  }
}

/** Tells `failed`, which may not throw, of the rejection of what was returned where nothing was to be. */
export function observed(returned: unknown, failed: (cause: unknown) => void): void {
  if (isThenable(returned)) void Promise.resolve(returned).then(undefined, failed)
}
