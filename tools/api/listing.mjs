// The public surface of a package as a page: every name that its entries export, in alphabetical order, with its documentation, its
// examples and its declaration, in which every member keeps its comment: defaults and guarantees are there. Read from what was emitted, since that is what users compile against, by TypeScript 5.9: 7 has no
// API for programs. What the declarations mention without exporting it is listed too, because a change of it is a change of them.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const ts = createRequire(join(root, 'tools/compilers/5.9/package.json'))('typescript')

/** The folders of what is published. */
export const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .filter((name) => manifestOf(name).private !== true)
  .toSorted()

export function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

/** Where the page of a package is kept. */
export const pageOf = (name) => join(root, 'packages', name, 'api.md')

/** The entries that are for users, by what they are imported as, with the file of their declarations. */
function entriesOf(name) {
  const manifest = manifestOf(name)
  return Object.entries(manifest.exports)
    .filter(([path, target]) => !path.startsWith('./internal') && typeof target?.types === 'string')
    .map(([path, { types }]) => ({ module: join(manifest.name, path).replaceAll('\\', '/'), file: join(root, 'packages', name, types) }))
}

const options = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: [],
  skipLibCheck: true,
  noEmit: true,
}
const printer = ts.createPrinter()

/** Private members are nobody's business, and they are not in the types either. */
function withoutPrivates(node) {
  const hidden = (member) =>
    (member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
    (ts.canHaveModifiers(member) && ts.getModifiers(member)?.some((m) => m.kind === ts.SyntaxKind.PrivateKeyword) === true)
  if (!ts.isClassDeclaration(node)) return node
  const members = node.members.filter((member) => !hidden(member))
  return ts.factory.updateClassDeclaration(node, node.modifiers, node.name, node.typeParameters, node.heritageClauses, members)
}

/** The statement that declares it: of a constant that is above its name. */
const statementOf = (declaration) => (ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration)

function textOf(declaration) {
  const text = printer.printNode(ts.EmitHint.Unspecified, withoutPrivates(statementOf(declaration)), declaration.getSourceFile())
  return text
    .replace(/^(?:\/\*\*[^]*?\*\/\s*)+/, '')
    .replace(/^export /, '')
    .replace(/^declare /, '')
}

/** The documentation of a name: its text, its paragraphs, and its examples. */
function docOf(checker, symbol) {
  const written = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  const examples = symbol
    .getJsDocTags(checker)
    .filter((tag) => tag.name === 'example')
    .map((tag) => ts.displayPartsToString(tag.text).trim())
  return { text: written.replaceAll(/\s+/g, ' ').trim(), written: written.trim(), examples }
}

/**
 * The types and functions of the folder that these symbols mention, and what those mention. Classes are left out: where one is
 * mentioned and not exported, users can do nothing with it, and what is inside is not theirs.
 */
function mentionedBy(checker, symbols, folder) {
  const shown = ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Interface | ts.SymbolFlags.Function
  const eligible = (symbol, at) =>
    (symbol.flags & shown) !== 0 && (symbol.flags & ts.SymbolFlags.Class) === 0 && at.getSourceFile().fileName.startsWith(folder)
  const found = new Set(symbols)
  const queue = [...symbols]
  for (let symbol = queue.pop(); symbol !== undefined; symbol = queue.pop()) {
    const visit = (node) => {
      if (ts.isIdentifier(node)) {
        let named = checker.getSymbolAtLocation(node)
        if (named !== undefined && named.flags & ts.SymbolFlags.Alias) named = checker.getAliasedSymbol(named)
        const at = named?.declarations?.[0]
        if (at !== undefined && !found.has(named) && ts.isSourceFile(statementOf(at).parent) && eligible(named, at)) {
          found.add(named)
          queue.push(named)
        }
      }
      node.forEachChild(visit)
    }
    for (const declaration of symbol.declarations ?? []) visit(withoutPrivates(statementOf(declaration)))
  }
  return [...found].filter((symbol) => !symbols.includes(symbol))
}

/** One for all packages, so that a name which another package exports counts as exported; made with the first question. */
let made
function everything() {
  if (made === undefined) {
    const every = packages.flatMap((each) => entriesOf(each).map(({ file }) => file))
    const program = ts.createProgram({ rootNames: every, options })
    made = { every, program, checker: program.getTypeChecker() }
  }
  return made
}

/** Every name that a package exports, entry by entry, and what these mention without its being exported anywhere. */
export function surfaceOf(name) {
  const entries = entriesOf(name)
  const { every, program, checker } = everything()
  const exportsOf = (file) => {
    const source = program.getSourceFile(file)
    if (source === undefined) throw new Error(`${file} is not there. Run npm run build first.`)
    return checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
      typeOnly: symbol.declarations?.some((at) => ts.isExportSpecifier(at) && (at.isTypeOnly || at.parent.parent.isTypeOnly)) === true,
    }))
  }
  const described = ({ name: as, symbol, typeOnly }) => ({
    name: as,
    ...docOf(checker, symbol),
    callable: typeOnly === false && (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0,
    error: (symbol.flags & ts.SymbolFlags.Class) !== 0 && checker.getDeclaredTypeOfSymbol(symbol).getProperty('stack') !== undefined,
    code: (symbol.declarations ?? []).map(textOf).join('\n'),
  })
  const orderOf = ({ name: as, code }) => `${as} ${code}`
  const byName = (a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)
  const known = new Set(every.flatMap((file) => exportsOf(file).map(({ symbol }) => symbol)))
  const own = entries.flatMap(({ file }) => exportsOf(file).map(({ symbol }) => symbol))
  return {
    entries: entries.map(({ module, file }) => ({ module, names: exportsOf(file).map(described).toSorted(byName) })),
    mentioned: mentionedBy(checker, own, `${root.replaceAll('\\', '/')}/packages/${name}/`)
      .filter((symbol) => !known.has(symbol))
      .map((symbol) => described({ name: symbol.name, symbol }))
      .toSorted(byName),
  }
}

/** The page of a package. */
export function listingOf(name) {
  const { entries, mentioned } = surfaceOf(name)
  const lines = [`# The API of ${manifestOf(name).name}`, '', 'Written by `npm run api` from the declarations; `npm test` compares it.']
  const listed = new Map()
  const list = ({ name: as, written, examples, code }, module) => {
    lines.push('', `### ${as}`, '')
    if (listed.get(as)?.code === code) return void lines.push(`As in \`${listed.get(as).module}\`.`)
    listed.set(as, { code, module })
    if (written !== '') lines.push(written, '')
    lines.push('```ts', code, '```')
    for (const example of examples) lines.push('', 'Example:', '', example.startsWith('```') ? example : `\`\`\`ts\n${example}\n\`\`\``)
  }
  for (const { module, names } of entries) {
    lines.push('', `## ${module}`)
    for (const each of names) list(each, module)
  }
  if (mentioned.length > 0) {
    lines.push('', '## Mentioned above, not exported')
    for (const each of mentioned) list(each, 'here')
  }
  return `${lines.join('\n')}\n`
}
