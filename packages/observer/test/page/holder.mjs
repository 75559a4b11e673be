// An actor for a thread: it holds its thread until a file exists, so that a test decides for how long.
import { existsSync } from 'node:fs'
import { receive, same } from '@troupe/core'
import { defineActor } from '@troupe/node'

const never = new Int32Array(new SharedArrayBuffer(4))

export const holder = defineActor(import.meta.url, 'holder', () =>
  receive((_ctx, { until, replyTo }) => {
    while (!existsSync(until)) Atomics.wait(never, 0, 0, 20)
    replyTo.tell('released')
    return same
  }),
)
