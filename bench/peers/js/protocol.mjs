// How a peer answers the runner: `node <peer>.mjs <benchmark> <repetitions>` prints one line of JSON with operations
// per second for each repetition, the first of which warmed up and is left out. Unknown benchmarks exit with code 3.

export async function answer(benchmarks) {
  const [name, repetitions = '3'] = process.argv.slice(2)
  const benchmark = benchmarks[name]
  if (benchmark === undefined) process.exit(3)
  const rates = []
  for (let i = -1; i < Number(repetitions); i++) {
    const started = performance.now()
    const operations = await benchmark()
    if (i >= 0) rates.push((operations / (performance.now() - started)) * 1000)
  }
  console.log(JSON.stringify(rates))
  process.exit(0)
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
