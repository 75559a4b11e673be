// Whether a test that needs an engine runs, is skipped with one loud line, or fails because TROUPE_REQUIRE names the engine.

/** The engine, found; undefined where it is not there, said aloud once. Throws where TROUPE_REQUIRE (a list with commas) says that it must be. */
export function engineOrSkip(name, find, remedy) {
  const required = (process.env.TROUPE_REQUIRE ?? '').split(',').map((word) => word.trim())
  const found = find()
  if (found !== undefined) return found
  if (required.includes(name)) throw new Error(`TROUPE_REQUIRE names ${name}, and none was found. ${remedy}`)
  process.stderr.write(`\nSKIPPED: tests with a real ${name}: none was found. ${remedy}\n`)
  return undefined
}
