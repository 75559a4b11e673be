// Feeds the RESP parser random and mutated frames: no crash, no error but FrameError, bounded memory.
//
//   npm run fuzz:resp -- [--frames 1000000] [--seed 1]
//
// Prints the seed, what became of the frames, the memory held at most, and the worst time of one push.

import { commandLine, whole } from '@troupe/testkit/internal'
import { fuzzResp } from './fuzz-resp.mjs'

const { frames, seed } = commandLine({
  name: 'npm run fuzz:resp',
  about: 'Feeds the RESP parser random and mutated frames. Ends with 1 where it meets another error than FrameError.',
  options: { frames: whole('how many frames', 1_000_000), seed: whole('what the frames are made from', 1, {}) },
})
const { respRequests, respReplies } = await import('@troupe/node')
const report = fuzzResp({ respRequests, respReplies, frames, seed })
console.log(`seed ${seed}: ${report.frames.toLocaleString('en')} frames in ${(report.ms / 1000).toFixed(1)} s`)
console.log(
  `commands ${report.commands.toLocaleString('en')}, replies ${report.replies.toLocaleString('en')}, refused ${report.refused.toLocaleString('en')}, other errors ${report.other}`,
)
console.log(`held at most ${report.held} bytes; heap grew by ${(report.heapGrowth / 1024 / 1024).toFixed(1)} MiB`)
console.log(`worst push, in CPU time: ${report.worst.toFixed(2)} ms (${report.worstBytes} bytes), 99.99th percentile ${report.p9999.toFixed(3)} ms`)
process.exitCode = report.other === 0 ? 0 : 1
