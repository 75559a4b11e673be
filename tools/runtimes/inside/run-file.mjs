// Runs one file of tests with vitest's runner and tells, event by event, what becomes of each test, so that whoever listens knows where a
// file was when its process died. Errors that reach the host count against the test that runs.

import { startTests } from '@vitest/runner'
import { getNames } from '@vitest/runner/utils'

const settings = {
  root: '/',
  setupFiles: [],
  passWithNoTests: false,
  allowOnly: true,
  sequence: { seed: 1, hooks: 'stack', setupFiles: 'list' },
  maxConcurrency: 5,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry: 0,
  tags: [],
  strictTags: false,
}

let running

/** Ends the running test as skipped, because the host lacks something; says nothing where no test runs. */
export function skipRunning(note) {
  if (running === undefined) return
  running.troupeNote = note
  running.context.skip(note)
}

const nameOf = (test) => getNames(test).slice(1).join(' > ')
/** The message is not always part of the stack: what takes too long has one of its own. */
function textOf(error) {
  const message = `${error?.name ?? 'thrown'}: ${error?.message ?? String(error)}`
  const stack = `${error?.stack ?? ''}`.split('\n').filter((line) => /^\s+at |@/.test(line) && !message.includes(line))
  return [...message.split('\n').slice(0, 12), ...stack.slice(0, 6)].join('\n')
}
const testsOf = (tasks) => tasks.flatMap((task) => (task.type === 'test' ? [task] : testsOf(task.tasks)))

/**
 * @param load imports the file
 * @param tell hears `{ tests }` (how many there are), `{ start: name }`, `{ end: name, state, note, error }`, then `{ done: true }`
 * @param known what is known not to work here: a list of `{ test, note }`, where `test` is the whole name or, with an asterisk at its
 *   end, how it begins
 * @param escapes tells the given function of each error that nobody caught
 */
export async function runFile({ name, load, tell, known, gatherOnly, escapes }) {
  const escaped = []
  escapes((cause) => void escaped.push(cause))
  const told = new Set()
  const end = (test, state, note, errors) => {
    told.add(test)
    tell({ end: nameOf(test), state, note, error: errors?.map(textOf).join('\n') })
  }
  const runner = {
    config: settings,
    viteEnvironment: 'ssr',
    importFile: load,
    onCollected(files) {
      const tests = files.flatMap((file) => testsOf(file.tasks))
      tell({ tests: tests.length })
      for (const test of tests) {
        const whole = nameOf(test)
        const match = known.find((k) => (k.test.endsWith('*') ? whole.startsWith(k.test.slice(0, -1)) : whole === k.test))
        if (match === undefined) continue
        tell({ known: match.test })
        if (test.mode !== 'run' && test.mode !== 'queued') continue
        test.mode = 'skip'
        test.troupeNote = match.note
      }
      if (gatherOnly) for (const test of tests) test.mode = 'skip'
    },
    onBeforeRunTask(test) {
      if (test.mode !== 'skip') tell({ start: nameOf(test) })
    },
    onBeforeTryTask(test) {
      running = test
    },
    onAfterRunTask(test) {
      running = undefined
      const { state, errors, note } = test.result ?? { state: 'skip' }
      const loose = escaped.splice(0)
      if (loose.length > 0 && state !== 'skip') end(test, 'fail', 'an error escaped to the host', [...(errors ?? []), ...loose])
      else end(test, state, note ?? test.troupeNote, errors)
    },
  }
  const files = await startTests([{ filepath: `/${name}` }], runner)
  for (const file of files) {
    // A test whose suite failed to set up, or was skipped as a whole, has never been told of.
    for (const test of testsOf(file.tasks))
      if (!told.has(test)) {
        const skipped = test.mode === 'skip' || test.mode === 'todo'
        end(test, skipped ? 'skip' : 'fail', test.troupeNote, skipped ? undefined : (test.suite?.result?.errors ?? file.result?.errors ?? []))
      }
    const errors = file.result?.errors
    if (errors?.length > 0) tell({ broken: errors.map(textOf).join('\n') })
  }
  if (escaped.length > 0) tell({ broken: `after its tests: ${escaped.map(textOf).join('\n')}` })
  tell({ done: true })
}
