// The fuzz itself, for the script and for the test suite.

/** A small seeded generator: the same seed, the same frames. */
function seeded(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const tokens = [
  '*',
  '$',
  ':',
  '+',
  '-',
  '\r\n',
  '\n',
  '\r',
  '0',
  '1',
  '2',
  '3',
  '-1',
  '9999999999',
  '18446744073709551616',
  '1048577',
  'PING',
  'SET',
  ' ',
  '"',
  "'",
  '\\x',
  '\0',
  'é',
]

/**
 * @param {{ respRequests: Function, respReplies: Function, frames: number, seed: number }} options
 */
export function fuzzResp({ respRequests, respReplies, frames, seed }) {
  const random = seeded(seed)
  const int = (n) => Math.floor(random() * n)
  const valid = () => {
    const args = Array.from({ length: 1 + int(5) }, () => Buffer.from(Array.from({ length: int(20) }, () => int(256))))
    return Buffer.concat([Buffer.from(`*${args.length}\r\n`), ...args.flatMap((a) => [Buffer.from(`$${a.length}\r\n`), a, Buffer.from('\r\n')])])
  }
  const mutated = () => {
    const frame = Buffer.from(valid())
    for (let i = 1 + int(3); i > 0; i--) {
      const at = int(frame.length)
      if (random() < 0.5) frame[at] = int(256)
      else frame[at] ^= 1 << int(8)
    }
    return random() < 0.3 ? frame.subarray(0, int(frame.length)) : frame
  }
  const noise = () => Buffer.from(Array.from({ length: int(80) }, () => int(256)))
  const soup = () => Buffer.from(Array.from({ length: int(15) }, () => tokens[int(tokens.length)]).join(''))
  const makers = [valid, mutated, mutated, noise, soup]

  const report = { frames, commands: 0, replies: 0, refused: 0, other: 0, held: 0, heapGrowth: 0, worst: 0, worstBytes: 0, p9999: 0, ms: 0 }
  const slow = []
  globalThis.gc?.()
  const heap = process.memoryUsage().heapUsed
  let requests = respRequests({ maxBulk: 65_536, maxCommand: 131_072 })
  let answers = respReplies({ maxBulk: 65_536 })
  const feed = (decoder, chunk) => {
    // CPU time, not the clock: on a busy machine the clock measures the others.
    const from = process.cpuUsage()
    const found = decoder.push(chunk)
    const { user, system } = process.cpuUsage(from)
    const took = (user + system) / 1000
    if (took > 0.05) slow.push(took)
    if (took > report.worst) {
      report.worst = took
      report.worstBytes = chunk.length
    }
    if (decoder.held > report.held) report.held = decoder.held
    return found.length
  }
  const guarded = (work, renew) => {
    try {
      return work()
    } catch (cause) {
      if (cause.code === 'frame-error') report.refused++
      else {
        report.other++
        if (report.other < 5) console.error(cause)
      }
      renew()
      return 0
    }
  }
  const began = performance.now()
  for (let i = 0; i < frames; i++) {
    const frame = makers[int(makers.length)]()
    // Sometimes in pieces, so that every state is met with every byte.
    const cut = random() < 0.5 ? int(frame.length + 1) : frame.length
    for (const piece of [frame.subarray(0, cut), frame.subarray(cut)]) {
      report.commands += guarded(
        () => feed(requests, piece),
        () => (requests = respRequests({ maxBulk: 65_536, maxCommand: 131_072 })),
      )
      if (i % 4 === 0)
        report.replies += guarded(
          () => feed(answers, piece),
          () => (answers = respReplies({ maxBulk: 65_536 })),
        )
    }
  }
  report.ms = performance.now() - began
  slow.sort((a, b) => b - a)
  report.p9999 = slow[Math.floor(frames / 10_000)] ?? 0.05
  globalThis.gc?.()
  report.heapGrowth = process.memoryUsage().heapUsed - heap
  return report
}
