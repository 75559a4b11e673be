// What the second thread of the watchdog does. It is handed over as text, so it stands alone: nothing from outside of the
// function may be used in it. Halts the main thread as a debugger does, which also gets at a loop that never returns.

interface Frame {
  readonly functionName: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number }
}
interface Session {
  connectToMainThread(): void
  post(method: string, params?: object, done?: (error: unknown, answer: { readonly result?: { readonly value?: string } } | undefined) => void): void
  on(event: 'Debugger.scriptParsed', listener: (m: { readonly params: { readonly scriptId: string; readonly url: string } }) => void): void
  on(event: 'Debugger.paused', listener: (m: { readonly params: { readonly callFrames: readonly Frame[] } }) => void): void
}
interface Modules {
  (name: 'node:worker_threads'): { readonly workerData: SharedArrayBuffer }
  (name: 'node:inspector'): { readonly Session: new () => Session }
  (name: 'node:timers'): { setInterval(task: () => void, ms: number): unknown }
  (name: 'node:fs'): { writeSync(file: number, text: string): void }
  (name: 'node:process'): {
    readonly pid: number
    kill(pid: number, signal: string): void
    cpuUsage(): { readonly user: number; readonly system: number }
  }
}

/**
 * Looks at the pulse now and then, for ever; when it stands still for too long, says so and ends the process. Too long is processor time: on a
 * busy machine a step of a second may take a minute, and has an end. A thread that uses no processor waits for something of the host, or for a
 * turn on a machine that is very busy; it gets twenty times as long.
 */
export function lookOn(require: Modules): void {
  const pulse = new Int32Array(require('node:worker_threads').workerData)
  const process = require('node:process')
  const interval = 50
  const idleFactor = 20
  let last = -1
  /** Milliseconds without a beat, and how many of them the process used the processor. */
  let still = 0
  let busy = 0
  let usedBefore = 0
  /** What is known of who holds the thread; undefined while nobody does. */
  let frames: readonly string[] | undefined
  let about = 'A simulation'
  /** Where `heldFor()` was when the thread was halted. */
  let haltedAt = 0

  const heldFor = (): number => Math.max(busy, still / idleFactor)
  const look = (): void => {
    const now = Atomics.load(pulse, 0)
    const limit = Atomics.load(pulse, 1)
    const { user, system } = process.cpuUsage()
    const used = (user + system) / 1000
    const isStill = limit > 0 && now === last
    // Counts looks, not time: a machine that slept has not been held. Threads beside the one that is watched may be busy too.
    still = isStill ? still + interval : 0
    busy = isStill ? busy + Math.min(interval, used - usedBefore) : 0
    usedBefore = used
    last = now
    if (still === 0) frames = undefined
    else if (frames === undefined) {
      if (heldFor() >= limit) halt()
    }
    // Whoever cannot be halted waits for something of the host; or the heap is full, and nothing gets through.
    else if (heldFor() >= haltedAt + Math.min(limit, 3000)) end()
  }
  const halt = (): void => {
    frames = []
    haltedAt = heldFor()
    const heldAt = last
    const urls = new Map<string, string>()
    const session = new (require('node:inspector').Session)()
    session.connectToMainThread()
    session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url))
    session.on('Debugger.paused', ({ params }) => {
      // Halted as it is, it cannot move any more: if it has meanwhile, all is well.
      if (Atomics.load(pulse, 0) !== heldAt || Atomics.load(pulse, 1) === 0) {
        session.post('Debugger.resume')
        return session.post('Debugger.disable')
      }
      frames = params.callFrames.map(({ functionName, location }) => {
        const file = (urls.get(location.scriptId) ?? '').replace(/^.*\/(?=[^/]*\/[^/]*$)/, '').replace(/\?.*$/, '')
        return `${functionName || '(anonymous)'} ${file}:${location.lineNumber + 1}`
      })
      session.post('Runtime.evaluate', { expression: "globalThis[Symbol.for('troupe.simulation')]()" }, (_error, answer) => {
        about = answer?.result?.value ?? about
        end()
      })
    })
    session.post('Debugger.enable')
    session.post('Debugger.pause')
  }
  const end = (): void => {
    const [what, ...rest] = about.split('\n')
    const where = (frames ?? []).slice(0, 10).map((frame) => `    at ${frame}`)
    const lines = [`${what} held its thread for ${(still / 1000).toFixed(1)} s, and has no end. The process is ended.`, ...rest, ...where]
    require('node:fs').writeSync(2, `\n${lines.join('\n')}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  require('node:timers').setInterval(look, interval)
}
