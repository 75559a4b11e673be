// A worker entry as a program has it: its actors, and what makes the thread one of the system. One of the names is given twice.

import { ignore } from '@troupe/core'
import { defineActor } from '@troupe/node/threads'
import './named.ts'
import '@troupe/node/worker'

for (const again of [ignore, ignore]) defineActor(import.meta.url, 'twin', () => again)
