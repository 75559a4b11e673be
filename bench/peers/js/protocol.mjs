// How a peer answers the runner: `node <peer>.mjs <benchmark> <warm-up ms> <measure ms>` prints one line of JSON with
// operations per second of each repetition after the warm-up. Unknown benchmarks exit with code 3. A benchmark named
// `idle` gives bytes per actor instead, once, and needs --expose-gc.

export async function answer(benchmarks) {
  const [name, warm = '0', time = '0'] = process.argv.slice(2)
  const benchmark = benchmarks[name]
  if (benchmark === undefined) process.exit(3)
  const figures = name === 'idle' ? [await benchmark()] : []
  if (name !== 'idle') {
    await repeat(benchmark, Number(warm))
    figures.push(...(await repeat(benchmark, Number(time))))
  }
  console.log(JSON.stringify(figures))
  process.exit(0)
}

/** At least once, and again until the time is over. */
async function repeat(benchmark, milliseconds) {
  const end = performance.now() + milliseconds
  const rates = []
  do {
    const started = performance.now()
    const operations = await benchmark()
    rates.push((operations / (performance.now() - started)) * 1000)
  } while (performance.now() < end)
  return rates
}

/** Bytes of heap that `make(n)`, which gives back what keeps them alive, adds for each of `n` actors. */
export async function bytesEach(n, make) {
  const used = () => {
    globalThis.gc()
    globalThis.gc()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  const kept = await make(n)
  await new Promise((resolve) => setImmediate(resolve))
  const bytes = (used() - before) / n
  return kept === undefined ? Number.NaN : bytes
}

/** A promise and what resolves it. */
export function latch() {
  let open
  const opened = new Promise((resolve) => (open = resolve))
  return { open, opened }
}

export function expectEqual(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`)
}

/** The same numbers as the other sides roll. */
export function dice(seed) {
  let state = seed | 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
