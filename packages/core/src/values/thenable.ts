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

const then: unknown = /* @__PURE__ */ Reflect.get(Promise.prototype, 'then')

/**
 * Whatever it is, as a promise of the platform that settles once, and later: a promise whose `then` or `constructor` is
 * somebody's own may throw, call back at once, or twice.
 */
export function settlementOf(value: unknown): Promise<unknown> {
  try {
    if (value instanceof Promise && value.constructor === Promise && value.then === then) return value
  } catch {}
  return new Promise((resolve) => resolve(value))
}

/** Runs what somebody else wrote: `failed`, which may not throw, hears of what it throws or rejects with. */
export function contain(act: () => unknown, failed: (cause: unknown) => void): void {
  try {
    observed(act(), failed)
  } catch (cause) {
    failed(cause)
  }
}

/** Tells `failed`, which may not throw, of the rejection of what was returned where nothing was to be. */
export function observed(returned: unknown, failed: (cause: unknown) => void): void {
  if (isThenable(returned)) void settlementOf(returned).then(undefined, failed)
}
