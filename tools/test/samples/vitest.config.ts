// Files of tests for tools/test-runner.test.ts, run apart from the suite.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['*.test.ts'] } })
