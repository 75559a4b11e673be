// Where the program of a thread is. It lies beside this file, also when the package is one file.

/** From sources it is the built one too: the thread's packages are built, and two cores would differ. */
export function threadEntry(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('../dist/troupe-thread.js', here) : new URL('./troupe-thread.js', here)
}
