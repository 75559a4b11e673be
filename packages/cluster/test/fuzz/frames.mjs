// Feeds the channels of a session random and changed frames.
//
//   npm run fuzz:frames -- [--inputs 1000000] [--seed 1]
//
// Prints the seed, what became of the frames, the most memory that any took for each of its bytes, and the slowest. Ends with 1 where one
// did more than be taken or refused, or took more memory than it may.

import { seeded } from '@troupe/testkit'
import { commandLine, whole } from '@troupe/testkit/internal'
import { fuzzFrames, perByte } from './fuzz-frames.mjs'

const { inputs, seed } = commandLine({
  name: 'npm run fuzz:frames',
  about: 'Feeds the channels of a session random and changed frames. Ends with 1 where one does more than be taken or refused.',
  options: { inputs: whole('how many frames', 1_000_000), seed: whole('what they are made from', 1, {}) },
})
const parts = await import('@troupe/cluster/internal')
const number = (n) => n.toLocaleString('en')
const since = performance.now()
const report = fuzzFrames({
  parts,
  random: seeded(seed),
  inputs,
  measureEvery: Math.max(1, Math.floor(inputs / 250)),
  gc: () => globalThis.gc?.(),
})
console.log(`seed ${seed}: ${number(report.inputs)} frames, ${number(report.bytes)} bytes, in ${((performance.now() - since) / 1000).toFixed(1)} s`)
console.log(
  `  taken ${number(report.taken)}, refused ${number(report.refused)}, errors ${report.others}${report.firstOther === undefined ? '' : `: ${report.firstOther}`}`,
)
console.log(`  slowest ${report.worst.toFixed(1)} ms (${report.worstBytes} bytes)`)
console.log(
  `  memory, of ${number(report.measured)} that were measured: at most ${report.greediest.toFixed(0)} bytes for each byte (${report.greediestInput})`,
)
process.exitCode = report.others === 0 && report.greediest <= perByte ? 0 : 1
