// Sends arbitrary values over the border between threads, in every way there is, in shared memory and by ports, and feeds its
// reader random and mutated bytes.
//
//   npm run fuzz:border -- [--values 100000] [--inputs 1000000] [--seed 1] [--measured 500]
//
// Prints the seed, what became of the values of each way, what became of the bytes, the most memory that any took for each of
// its bytes, and the slowest. Ends with 1 where a value arrived as another, or bytes did more than be refused.

import fc from 'fast-check'
import { commandLine, whole } from '@troupe/testkit/internal'
import { coverageOf } from './coverage.mjs'
import { buildCodec } from './codec.mjs'

const { values, inputs, seed, measured } = commandLine({
  name: 'npm run fuzz:border',
  about: 'Sends arbitrary values between threads and compares what arrives with structured clone; then feeds the reader random and mutated bytes.',
  options: {
    values: whole('how many values, half of them by ports', 100_000),
    inputs: whole('how many inputs of bytes', 1_000_000),
    seed: whole('what they are made from', 1, {}),
    measured: whole('of how many of them the memory is measured, which takes longest', 500),
  },
})
const { ActorSystem } = await import('@troupe/core')
const { threads } = await import('@troupe/node')
const { Crossings, lanes } = await import('../../dist-test/crossings.js')
const { recipes } = await import('../../dist-test/recipes.js')
const { BytesFuzz, perByte } = await import('../../dist-test/bytes.js')
const codec = await buildCodec()
const { Reader, Writer } = await import(codec)

const batch = 200
/** Of so many values, how many go which way: those that start an actor take longer. */
const shares = { message: 60, told: 40, answer: 40, headers: 20, 'headers back': 12, failure: 6, arguments: 8, result: 8, spawn: 4, 'handed over': 2 }
const turns = lanes.flatMap((lane) => Array.from({ length: shares[lane] }, () => lane))
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const number = (n) => n.toLocaleString('en')
let wrong = 0

async function cross(sharedMemory, count) {
  const system = ActorSystem.create('fuzz', { logger: silent, askTimeout: 600_000 })
  const crossings = new Crossings(system, threads(system, { size: 2, sharedMemory, hangAfter: 120_000 }))
  const since = performance.now()
  for (let done = 0; done < count; done += batch) {
    const made = fc.sample(recipes, { numRuns: Math.min(batch, count - done), seed: (seed * 7919 + done * 2 + Number(sharedMemory)) | 0 })
    await Promise.all(
      made.map(async (recipe, i) => {
        const lane = turns[(done + i * 37) % turns.length]
        const trouble = await crossings.cross(lane, recipe)
        if (trouble === undefined) return
        wrong++
        if (wrong <= 10) console.log(`WRONG by way of ${lane}: ${trouble}\n  ${JSON.stringify(recipe).slice(0, 2000)}`)
      }),
    )
  }
  const seconds = (performance.now() - since) / 1000
  console.log(`${sharedMemory ? 'shared memory' : 'ports'}: ${number(count)} values in ${seconds.toFixed(1)} s`)
  for (const lane of lanes) {
    const { arrived, refused } = crossings.tallies[lane]
    console.log(`  ${lane.padEnd(14)} ${number(arrived).padStart(9)} arrived ${number(refused).padStart(8)} refused`)
  }
  const there = await crossings.overThere()
  if (there !== crossings.told) wrong++
  console.log(
    `  told by getters while their objects were read: ${number(crossings.told)} from here, ${number(there)} came; ${number(crossings.heard)} from there`,
  )
  const { sent, ...rest } = await system.ledger()
  const sum = Object.values(rest).reduce((a, b) => a + b, 0)
  if (sum !== sent) wrong++
  console.log(`  ledger: ${number(sent)} sent, ${number(sum)} accounted for`)
  await system.shutdown()
}

console.log(`seed ${seed}`)
await cross(true, Math.ceil(values / 2))
await cross(false, Math.floor(values / 2))
console.log(`values that arrived as others: ${wrong}`)

const fuzz = new BytesFuzz({ Reader, Writer }, seed, () => globalThis.gc?.())
const since = performance.now()
fuzz.run(inputs, Math.max(1, Math.floor(inputs / measured)))
const { report } = fuzz
console.log(`bytes: ${number(report.inputs)} inputs, ${number(report.bytes)} bytes, in ${((performance.now() - since) / 1000).toFixed(1)} s`)
console.log(
  `  values ${number(report.values)}, refused ${number(report.refused)}, other errors ${report.others}${report.firstOther === undefined ? '' : `: ${report.firstOther}`}`,
)
console.log(`  slowest ${report.worst.toFixed(1)} ms (${report.worstBytes} bytes)`)
console.log(
  `  memory, of ${number(report.measured)} that were measured: at most ${report.greediest.toFixed(0)} bytes for each byte (${report.greediestInput})`,
)
// Slower by far, so of fewer inputs: which lines of the reader they run through.
const modules = ['reader', 'build', 'shape-reader', 'define', 'error-value'].map((name) => `codec/${name}.ts`)
let looked
const found = await coverageOf(codec, modules, (fresh) => {
  looked = new BytesFuzz(fresh, seed + 1)
  looked.run(Math.min(inputs, 50_000), Infinity)
})
const sum = (key) => found.reduce((all, each) => all + each[key], 0)
console.log(`reader: ${number(sum('covered'))} of ${number(sum('total'))} lines run by ${number(looked.report.inputs)} inputs`)
for (const { name, total, covered, missed } of found) {
  console.log(`  ${name.padEnd(16)} ${covered} of ${total}`)
  for (const line of missed) console.log(`    ${line}`)
}
process.exitCode = wrong === 0 && report.others === 0 && report.greediest <= perByte ? 0 : 1
