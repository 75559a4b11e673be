// `npm run chaos`: 10,000 actors, half a minute, two threads.
import { runChaos } from './chaos.js';
const seconds = Number(process.argv[2] ?? 30);
const actors = Number(process.argv[3] ?? 10_000);
const seed = Number(process.argv[4] ?? (performance.timeOrigin % 1_000_000) | 0);
const byPorts = process.argv[5] === 'ports';
console.log(`${actors} actors on 2 threads${byPorts ? ' without shared memory' : ''} for ${seconds} s, seed ${seed}`);
const result = await runChaos({
    actors,
    milliseconds: seconds * 1000,
    hangAfter: 500,
    every: 1000,
    seed,
    ...(byPorts ? { sharedMemory: false } : undefined),
});
const { ledger, overdue } = result;
console.log('kills        ', result.kills);
console.log('threads lost ', result.losses);
console.log('restarts     ', result.restarts, 'settled in', Math.round(result.settledIn), 'ms');
console.log('ledger       ', ledger);
console.log('hung threads, milliseconds past their deadline:', overdue.map(Math.round).join(', ') || 'none');
const problems = [
    ...(result.answered === actors ? [] : [`${actors - result.answered} actors do not answer`]),
    ...(result.accounted === ledger.sent ? [] : [`${ledger.sent} messages sent, ${result.accounted} accounted for`]),
    ...result.complaints.slice(0, 5),
];
console.log(problems.length === 0 ? 'all actors answer, all messages are accounted for, all in order' : `FAILED: ${problems.join('; ')}`);
process.exitCode = problems.length === 0 ? 0 : 1;
//# sourceMappingURL=chaos-main.js.map