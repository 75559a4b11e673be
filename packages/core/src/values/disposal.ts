// What `using` and `await using` need to know, for programs whose `lib` does not: the same declarations as those of
// ESNext.Disposable, which merge where both are there. Without them whoever compiles against Troupe would have to change
// `lib`, or skip the check of libraries. Types only: the symbols themselves are the host's.

declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
  interface Disposable {
    [Symbol.dispose](): void
  }
  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>
  }
}

/** What `using` ends. */
export interface Disposing {
  [Symbol.dispose](): void
}

/** What `await using` ends. */
export interface AsyncDisposing {
  [Symbol.asyncDispose](): Promise<void>
}
