// Plays the scenes in a terminal.

import { setTimeout as sleep } from 'node:timers/promises'
import { ActorSystem } from '@troupe/core'
import { playAll } from './scenes.ts'

// What fails here fails on purpose, and is told below: no log.
await using system = ActorSystem.create('supervision', { logger: false })
await playAll(system, {
  show: (text) => void process.stdout.write(`${text.startsWith('#') ? '\n' : ''}${text}\n`),
  settle: () => sleep(20),
})
