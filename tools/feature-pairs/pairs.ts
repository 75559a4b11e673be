// How the features of a package are listed, and what is said of each two of them.

/** The test that brings two features together: its file, and its title as it is written there; or why they cannot affect each other. */
export type Verdict = readonly [file: string, title: string] | string

export interface FeaturePairs {
  /** The folder of the tests. */
  readonly folder: string
  /** What each feature is, in a few words. */
  readonly features: Readonly<Record<string, string>>
  /** What is said of each pair; the key is `first × second`, in the order of the features. */
  readonly pairs: Readonly<Record<string, Verdict>>
}

/** What is wrong with a list. `read` returns the text of a file, or undefined if there is none. */
export function faultsOf({ folder, features, pairs }: FeaturePairs, read: (path: string) => string | undefined): string[] {
  const names = Object.keys(features)
  const expected = names.flatMap((first, at) => names.slice(at + 1).map((second) => `${first} × ${second}`))
  const faults = expected.filter((pair) => !Object.hasOwn(pairs, pair)).map((pair) => `${pair}: has neither a test nor a reason`)
  for (const [pair, verdict] of Object.entries(pairs)) {
    if (!expected.includes(pair)) faults.push(`${pair}: is no pair of two features in their order`)
    else if (typeof verdict === 'string') {
      if (!/^[A-Z].{30,}\.$/.test(verdict)) faults.push(`${pair}: its reason is no sentence`)
    } else {
      const [file, title] = verdict
      const text = read(`${folder}/${file}`)
      if (text === undefined) faults.push(`${pair}: there is no file ${folder}/${file}`)
      else if (!["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`))) faults.push(`${pair}: ${file} has no test “${title}”`)
    }
  }
  return faults
}
