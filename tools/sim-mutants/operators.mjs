// Mutation operators on lines of source: negate or drop a condition, drop a call, swap two statements, off by one, keep a
// reference that is cleared. Textual on purpose: what does not compile afterwards is no mutant, and the compiler says so.

const skipped = /^\s*(\/\/|\*|\/\*|import |export type|export interface|interface |type |readonly |case |default:|\}|$)/

/** All single-line mutants of a source text: `{ operator, line, text }`, where `text` is the whole mutated source. */
export function mutantsOf(source) {
  const lines = source.split('\n')
  const found = []
  const put = (operator, at, replacement, also = {}) => {
    const copy = [...lines]
    copy[at] = replacement
    for (const [i, text] of Object.entries(also)) copy[i] = text
    found.push({ operator, line: at + 1, before: lines[at].trim(), after: replacement.trim(), text: copy.join('\n') })
  }
  for (const [i, line] of lines.entries()) {
    // What serves the simulator itself is not under test.
    if (skipped.test(line) || line.includes('.tap')) continue
    const condition = conditionOf(line)
    if (condition !== undefined) {
      const { start, end, text } = condition
      put('negate a condition', i, `${line.slice(0, start)}!(${text})${line.slice(end)}`)
      for (const joint of [' && ', ' || ']) {
        const parts = splitTop(text, joint)
        if (parts.length > 1)
          for (const [k] of parts.entries())
            put('drop a condition', i, line.slice(0, start) + parts.filter((_, j) => j !== k).join(joint) + line.slice(end))
      }
      if (splitTop(text, ' && ').length === 1 && splitTop(text, ' || ').length === 1)
        put('drop a condition', i, `${line.slice(0, start)}${text.includes('===') ? `${text} || true` : 'true as boolean'}${line.slice(end)}`)
    }
    const returned = /^(\s*return )(.+ (?:&&|\|\|) .+)$/.exec(line)
    if (returned !== null && !returned[2].includes('=>')) {
      for (const joint of [' && ', ' || ']) {
        const parts = splitTop(returned[2], joint)
        if (parts.length > 1) put('drop a condition', i, returned[1] + parts.slice(1).join(joint))
      }
    }
    if (isCall(line)) put('drop a call', i, line.replace(/\S.*$/, ''))
    if (/^\s*[\w.!?#[\]]+ = undefined$/.test(line)) put('keep a reference', i, line.replace(/\S.*$/, ''))
    for (const [from, to] of [
      [' < ', ' <= '],
      [' <= ', ' < '],
      [' > ', ' >= '],
      [' >= ', ' > '],
      [' + 1', ' + 2'],
      [' - 1', ' - 2'],
      ['++', ' += 2'],
      ['--', ' -= 2'],
    ]) {
      const at = line.indexOf(from)
      if (at < 0 || (line.includes('=>') && from.includes('>')) || /`|'/.test(line.slice(0, at)) || line.includes('<T>')) continue
      if ((from === '++' || from === '--') && !/[\w\])#]$/.test(line.slice(0, at))) continue
      put('off by one', i, line.slice(0, at) + to + line.slice(at + from.length))
    }
    const next = lines[i + 1]
    if (next !== undefined && isStatement(line) && isStatement(next) && indentOf(line) === indentOf(next) && related(line, next))
      put('swap two statements', i, next, { [i + 1]: line })
  }
  return found
}

/** Whether the order of two statements can matter: two calls, or one that reads what the other writes. */
function related(one, other) {
  if (isCall(one) && isCall(other)) return one.trim() !== other.trim()
  const written = (line) => /^\s+([\w.!?#[\]]+?)(?: (?:=|\+=|-=) |\+\+|--)/.exec(line)?.[1]
  const rest = (line) => line.slice(line.indexOf('=') + 1)
  const reads = (line, name) => name !== undefined && rest(line).includes(name)
  return reads(other, written(one)) || reads(one, written(other))
}
function indentOf(line) {
  return line.length - line.trimStart().length
}
function isCall(line) {
  return (
    /^\s+(?:[\w$]+(?:[.!?#]+[\w$]+)*)\(.*\)$/.test(line) &&
    !/^\s+(?:super|if|for|while|switch|constructor|return|throw|get|set)\b/.test(line) &&
    balanced(line)
  )
}
function isStatement(line) {
  return (
    isCall(line) ||
    (/^\s+[\w.!?#[\]]+ (?:=|\+=|-=) [^{]+$/.test(line) && balanced(line) && !line.includes('=>')) ||
    /^\s+[\w.#]+(?:\+\+|--)$/.test(line)
  )
}
function balanced(line) {
  let depth = 0
  for (const c of line) {
    if ('([{'.includes(c)) depth++
    if (')]}'.includes(c)) depth--
    if (depth < 0) return false
  }
  return depth === 0
}
/** Where the condition of an `if` or `while` of one line stands. */
function conditionOf(line) {
  const found = /\b(?:if|while) \(/.exec(line)
  if (found === null) return undefined
  const start = found.index + found[0].length
  let depth = 1
  for (let i = start; i < line.length; i++) {
    if (line[i] === '(') depth++
    if (line[i] === ')' && --depth === 0) return { start, end: i, text: line.slice(start, i) }
  }
  return undefined
}
function splitTop(text, joint) {
  const parts = []
  let depth = 0
  let from = 0
  for (let i = 0; i < text.length; i++) {
    if ('([{'.includes(text[i])) depth++
    if (')]}'.includes(text[i])) depth--
    if (depth === 0 && text.startsWith(joint, i)) {
      parts.push(text.slice(from, i))
      from = i + joint.length
    }
  }
  return [...parts, text.slice(from)]
}
