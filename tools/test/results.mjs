// Turns results of test runs into lines: the failures of one run, and those of all runs of a result file of `npm run test:repeat`.

/** A line for where each failure is, and one for how its message begins. */
export function failureLines(failures) {
  return failures.flatMap(({ file, test, message }) => {
    const where = [file, test].filter((part) => part !== '').join(': ')
    const first = firstLine(message)
    return where === '' ? [`  ${first}`] : [`  ${where}`, `    ${first}`]
  })
}

/** Every test that failed in any run: how often, and with which messages. `text` is one line of JSON for each run. */
export function summaryOf(text) {
  const runs = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const found = new Map()
  for (const { failures } of runs)
    for (const { file, test, message } of failures) {
      const name = [file, test].filter((part) => part !== '').join(': ')
      const messages = found.get(name) ?? []
      found.set(name, [...messages, firstLine(message)])
    }
  const lines = [`${runs.length} runs, ${found.size} tests failed at least once`]
  for (const [name, messages] of [...found].toSorted(([, a], [, b]) => b.length - a.length)) {
    lines.push(`  ${messages.length} × ${name === '' ? 'outside of any test' : name}`)
    for (const message of new Set(messages)) lines.push(`      ${messages.filter((other) => other === message).length} × ${message}`)
  }
  return lines.join('\n')
}

function firstLine(message) {
  return message.split('\n')[0]
}
