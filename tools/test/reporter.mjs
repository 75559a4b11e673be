// Vitest's side of `npm test`: sends the start, each finished file, console output and the outcome to the process that started Vitest
// (`run-vitest.mjs`), and prints errors only. What the tests themselves print therefore stays apart from the report of their failures.

import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { DefaultReporter } from 'vitest/node'
import { reportMarker } from './run-vitest.mjs'

export default class ProgressReporter extends DefaultReporter {
  constructor() {
    super({ summary: false })
  }
  onInit(vitest) {
    this.ctx = vitest
    // The process that started this one is gone, so the results have no reader.
    process.once('disconnect', () => void vitest.exit(true))
    // A listener keeps the channel, and with it the process, open.
    process.channel?.unref()
  }
  onTestRunStart(specifications) {
    super.onTestRunStart(specifications)
    send({ type: 'started', files: specifications.length })
  }
  onTestModuleEnd(module) {
    const { duration } = module.diagnostic()
    send({ type: 'file', file: this.#fileOf(module), ms: duration, ok: module.ok() })
  }
  onUserConsoleLog(log) {
    const task = log.taskId === undefined ? undefined : this.ctx.state.idMap.get(log.taskId)
    send({ type: 'output', source: task === undefined ? 'unknown test' : this.getFullName(task, ' > '), text: log.content })
  }
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const failures = []
    for (const module of modules) {
      const file = this.#fileOf(module)
      for (const error of module.errors()) failures.push({ file, test: '', message: textOf(error) })
      const unfinished = []
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) failures.push({ file, test: suite.fullName, message: textOf(error) })
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        if (state === 'pending') unfinished.push(test.fullName)
        else counts[state]++
        if (state === 'failed') failures.push({ file, test: test.fullName, message: errors.map(textOf).join('\n') })
      }
      if (unfinished.length > 0 || module.state() === 'pending' || module.state() === 'queued')
        failures.push({
          file,
          test: '',
          message: `its process died in or before "${unfinished[0] ?? 'the first test'}"; ${unfinished.length} tests did not finish`,
        })
    }
    for (const error of unhandledErrors) failures.push({ file: '', test: '', message: `outside of any test: ${textOf(error)}` })
    send({ type: 'finished', ...counts, failures })
    if (failures.length === 0) return
    for (const stream of [process.stdout, process.stderr]) stream.write(reportMarker)
    this.printErrorsSummary(
      modules.map(({ task }) => task),
      [...unhandledErrors],
    )
  }
  #fileOf(module) {
    return relative(this.ctx.config.root, module.moduleId).replaceAll('\\', '/')
  }
}

function send(message) {
  process.send?.(message)
}

function textOf(error) {
  return stripVTControlCharacters(String(error?.message ?? error)).slice(0, 2000)
}
