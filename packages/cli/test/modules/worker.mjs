// A worker entry, as a bundle has one: it knows its actors, and what records them, by name.
import '@troupe/node/worker'
import { defineTask } from '@troupe/node'
import { capsuleRecorder } from '@troupe/observer/capsule'

defineTask('capsuleRecorder', capsuleRecorder)
export { till } from './till.mjs'
