// What a release changes, as texts before and after: the changelog, the versions of the packages, what the workspace says about them.
// Pure: it reads no file and knows no day. A file that would stay as it is is not in the plan.

/** Why there is nothing to release; the message is one sentence. */
export class Refused extends Error {}

export const bumps = ['patch', 'minor', 'major']

const unreleased = /^## \[Unreleased\][^\n]*\n/m
const plain = /^(\d+)\.(\d+)\.(\d+)$/
const range = /^(\^|~|>=)?\d+\.\d+\.\d+$/

/** What the section Unreleased holds; undefined where there is no such section. */
export function unreleasedOf(changelog) {
  const at = unreleased.exec(changelog)
  if (at === null) return undefined
  const rest = changelog.slice(at.index + at[0].length)
  const end = rest.search(/^## /m)
  return (end < 0 ? rest : rest.slice(0, end)).trim()
}

/**
 * How much of the version the changes take: what breaks a program is said by an entry that begins with "Breaking", or is under Removed. Below
 * 1.0.0 that is a minor version, as everything but repairs is; only who says so gets from there to 1.0.0.
 */
export function bumpFor(notes, version) {
  const breaks = /^### Removed/m.test(notes) || /^\s*[-*]\s+\**Breaking\b/m.test(notes)
  if (breaks && !version.startsWith('0.')) return 'major'
  return breaks || /^### (Added|Changed|Deprecated)/m.test(notes) ? 'minor' : 'patch'
}

export function bumped(version, bump) {
  const [, major, minor, patch] = plain.exec(version)?.map(Number) ?? []
  if (major === undefined) throw new Refused(`'${version}' is not a version that can be counted up`)
  if (bump === 'major') return `${major + 1}.0.0`
  return bump === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

/** The text of a manifest with the version, if it is a package, and with its ranges on the packages; its layout stays. */
function manifestWith(path, text, names, from, to) {
  const own = names.has(JSON.parse(text).name)
  const versioned = own ? text.replace(`"version": "${from}"`, `"version": "${to}"`) : text
  return versioned.replaceAll(/"(@[\w-]+\/[\w-]+)": "([^"]*)"/g, (whole, name, wanted) => {
    if (!names.has(name) || wanted === '*' || wanted.startsWith('workspace:')) return whole
    if (!range.test(wanted)) throw new Refused(`${path} wants ${name} '${wanted}'; write a version, with ^, ~ or >= in front or without`)
    return `"${name}": "${wanted.replace(/\d.*$/, to)}"`
  })
}

/** The same in the lock file, so that the next install finds nothing to do. */
function lockWith(text, names, from, to) {
  const lock = JSON.parse(text)
  for (const each of Object.values(lock.packages)) {
    if (names.has(each.name) && each.version === from) each.version = to
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'])
      for (const name of Object.keys(each[kind] ?? {}))
        if (names.has(name) && range.test(each[kind][name])) each[kind][name] = each[kind][name].replace(/\d.*$/, to)
  }
  return `${JSON.stringify(lock, null, 2)}\n`
}

/**
 * The plan of a release. `manifests` are the texts of all package.json of the workspace, by path; those that are not private are released, all with
 * one version. Without a bump the changes decide; the first release of all has the version that is there.
 */
export function planRelease({ changelog, manifests, lock, bump, date }) {
  const released = Object.entries(manifests)
    .map(([path, text]) => Object.assign(JSON.parse(text), { path }))
    .filter((manifest) => manifest.private !== true)
  const versions = [...new Set(released.map(({ version }) => version))]
  if (versions.length !== 1) throw new Refused(`the packages have ${versions.length} versions (${versions.join(', ')}), where there must be one`)
  const [from] = versions
  const notes = unreleasedOf(changelog)
  if (notes === undefined) throw new Refused('CHANGELOG.md has no section Unreleased')
  if (!/^\s*[-*] /m.test(notes)) throw new Refused('there is nothing under Unreleased in CHANGELOG.md')
  const first = !/^## \[\d/m.test(changelog)
  const to = first && bump === undefined ? from : bumped(from, bump ?? bumpFor(notes, from))
  if (changelog.includes(`## [${to}]`)) throw new Refused(`CHANGELOG.md has a section ${to} already`)
  const names = new Set(released.map(({ name }) => name))
  const before = { 'CHANGELOG.md': changelog, 'package-lock.json': lock, ...manifests }
  const after = {
    'CHANGELOG.md': changelog.replace(unreleased, `## [Unreleased]\n\n## [${to}] - ${date}\n`),
    'package-lock.json': lockWith(lock, names, from, to),
  }
  for (const [path, text] of Object.entries(manifests)) after[path] = manifestWith(path, text, names, from, to)
  const changes = Object.keys(after).filter((path) => after[path] !== before[path])
  return { from, to, released, files: Object.fromEntries(changes.map((path) => [path, after[path]])) }
}
