// Plays the scenes in a terminal.

import { setTimeout as sleep } from 'node:timers/promises'
import { ActorSystem } from 'troupe'
import { playAll } from './scenes.ts'

await using system = ActorSystem.create('supervision')
await playAll(system, {
  show: (text) => void process.stdout.write(`${text.startsWith('#') ? '\n' : ''}${text}\n`),
  settle: () => sleep(20),
})
