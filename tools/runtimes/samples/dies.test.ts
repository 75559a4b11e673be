// Its process ends in the middle, for tools/runtimes.test.ts: not part of the suite.

import { expect, test } from 'vitest'

test('comes first', () => expect(1).toBe(1))
test('takes its process along', () => process.exit(3))
test('is never reached', () => {})
