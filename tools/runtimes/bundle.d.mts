export interface Bundled {
  readonly main: string
  readonly files: ReadonlyMap<string, string>
}

export declare function bundle(files: readonly string[], target: 'process' | 'browser', outdir: string): Promise<Bundled>
