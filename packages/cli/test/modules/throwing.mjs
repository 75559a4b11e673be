export const options = { logger: false }

// At once, and not by a promise; what it spawned before is stopped.
export default function throwing() {
  throw new Error('no database')
}
