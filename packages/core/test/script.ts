// Modules that tests give to a process of their own as text: how this runtime is told to run one.

/** The arguments for it, after the runtime itself; flags are V8's, such as `--expose-gc`. */
export function scriptArguments(code: string, ...flags: readonly string[]): string[] {
  // Deno has -e as well, but takes what follows for a script that can import nothing.
  return 'Deno' in globalThis ? ['eval', ...flags.map((flag) => `--v8-flags=${flag}`), code] : [...flags, '--input-type=module', '-e', code]
}
