// `npm run chaos [seconds] [actors] [seed] [shared | ports] [--every ms] [--hang-after ms] [--kills kill,…] [--patience s]`: 10,000 actors, half
// a minute, two threads.

import { amount, commandLine, oneOf, someOf, whole } from '@troupe/testkit/internal'
import { type Kill, kills, runChaos } from './chaos.ts'

const given = commandLine({
  name: 'npm run chaos',
  about: 'Two threads that are killed at random while messages flow. Ends with 1 unless every actor answers and every message is accounted for.',
  words: {
    seconds: amount('how long threads are killed for', 30, { from: 0, to: 86_400 }),
    actors: whole('how many actors', 10_000),
    seed: whole('what the kills are chosen by (default: another each time)', undefined, {}),
    memory: oneOf('memory', ['shared', 'ports'], 'how threads talk: by shared memory, or by message ports alone', 'shared'),
  },
  options: {
    every: whole('milliseconds between kills', 1000),
    'hang-after': whole('milliseconds of silence until a thread counts as hung', 500, { from: 20 }),
    kills: someOf('kill', kills, 'just these ways to take a thread down; fail: only the actor', 'all'),
    patience: whole('seconds in which nothing comes back until the run counts as stuck', 30),
  },
})
const { seconds, actors, every, 'hang-after': hangAfter, patience, seed = Math.trunc(performance.timeOrigin % 1_000_000) } = given
const byPorts = given.memory === 'ports'
console.log(`${actors} actors on 2 threads${byPorts ? ' without shared memory' : ''} for ${seconds} s, seed ${seed}`)
const result = await runChaos({
  actors,
  milliseconds: seconds * 1000,
  hangAfter,
  every,
  seed,
  patience,
  kills: given.kills as readonly Kill[] | undefined,
  ...(byPorts ? { sharedMemory: false } : undefined),
})
const { ledger, overdue } = result
console.log('kills        ', result.kills)
console.log('threads lost ', result.losses)
console.log('restarts     ', result.restarts, 'settled in', Math.round(result.settledIn), 'ms')
console.log('ledger       ', ledger)
console.log('hung threads, milliseconds past their deadline:', overdue.map(Math.round).join(', ') || 'none')
const problems = [
  ...(result.answered === actors ? [] : [`${actors - result.answered} actors do not answer`]),
  ...(result.accounted === ledger.sent ? [] : [`${ledger.sent} messages sent, ${result.accounted} accounted for`]),
  ...result.complaints.slice(0, 5),
]
console.log(problems.length === 0 ? 'all actors answer, all messages are accounted for, all in order' : `FAILED: ${problems.join('; ')}`)
process.exitCode = problems.length === 0 ? 0 : 1
