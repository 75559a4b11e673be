// Cancellation in public types is the user's own `AbortSignal`, found through `globalThis` without naming a library:
// with DOM or Node types it is theirs, with neither it is the small structural part that Troupe relies on.

interface StructuralSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

// oxlint-disable-next-line no-restricted-globals -- its type, not its value
type Global = typeof globalThis

/** The platform's `AbortSignal` where its types are present, else the part of it that Troupe uses. */
export type AbortSignalLike = Global extends { AbortSignal: { prototype: infer S } } ? S : StructuralSignal

/** What ends a signal; the host makes them. */
export interface AbortSource {
  readonly signal: AbortSignalLike
  abort(reason?: unknown): void
}
