import { test } from 'vitest'

test('prints', () => {
  console.log('to the console')
  process.stderr.write('SKIPPED: tests that need what is not there\n')
  process.stderr.write('to the stream\n')
})
