// Processes that share the work. Each has one block at a time; one that dies with its block is replaced, and what it said
// last is all there is to know about it. Leaves what a block is, and what becomes of results, to others.

/** What became of a block: a result, or the end of the process that had it. */
export type Outcome<R> = { readonly type: 'done'; readonly result: R } | { readonly type: 'died'; readonly how: string; readonly lastWords: string }

interface Member<B, R> {
  readonly connected: boolean
  send(block: B): void
  disconnect(): void
  kill(signal: 'SIGKILL'): void
  on(event: 'message', listener: (result: R) => void): void
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): void
  readonly stderr: { setEncoding(encoding: 'utf8'): void; on(event: 'data', listener: (text: string) => void): void }
}
interface ChildProcesses {
  fork<B, R>(file: string, args: readonly string[], options: { readonly stdio: readonly string[] }): Member<B, R>
}
interface Host {
  readonly process: { getBuiltinModule(name: 'node:child_process'): ChildProcesses }
}

/** As much of its last words as is kept. */
const most = 20_000

export class Crew<B, R> {
  readonly #file: string
  readonly #members = new Set<Member<B, R>>()
  #next: () => B | undefined = () => undefined
  #tell: (block: B, outcome: Outcome<R>) => void = () => {}
  #over: () => void = () => {}
  #stopped = false

  /** `file` is what each process runs. */
  constructor(file: string) {
    this.#file = file
  }

  /** Has `size` processes work until there is no next block and all have ended. */
  work(size: number, next: () => B | undefined, tell: (block: B, outcome: Outcome<R>) => void): Promise<void> {
    this.#next = next
    this.#tell = tell
    return new Promise((resolve) => {
      this.#over = resolve
      for (let i = 0; i < size; i++) this.#hire()
      if (this.#members.size === 0) resolve()
    })
  }

  /** Ends all processes at once, whatever they are doing. */
  stop(): void {
    this.#stopped = true
    for (const member of this.#members) member.kill('SIGKILL')
  }

  #hire(): void {
    let block = this.#stopped ? undefined : this.#next()
    if (block === undefined) return
    const processes = (globalThis as unknown as Host).process.getBuiltinModule('node:child_process')
    const member = processes.fork<B, R>(this.#file, [], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
    let lastWords = ''
    this.#members.add(member)
    member.stderr.setEncoding('utf8')
    member.stderr.on('data', (text) => (lastWords = (lastWords + text).slice(-most)))
    member.on('message', (result) => {
      const done = block!
      block = undefined
      this.#tell(done, { type: 'done', result })
      block = this.#stopped ? undefined : this.#next()
      // One that a stop has killed may have lost its line already, and Deno takes that amiss.
      if (block !== undefined) member.send(block)
      else if (member.connected) member.disconnect()
    })
    member.on('exit', (code, signal) => {
      this.#members.delete(member)
      if (block !== undefined && !this.#stopped) {
        this.#tell(block, { type: 'died', how: signal ?? `exit code ${code}`, lastWords: lastWords.trim() })
        this.#hire()
      }
      if (this.#members.size === 0) this.#over()
    })
    member.send(block)
  }
}
