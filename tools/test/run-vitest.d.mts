import type { Failure } from './results.d.mts'

export const root: string
export const reportMarker: string
export function commandOf(name: string, command: string): string

export interface VitestResult {
  readonly ok: boolean
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
  readonly files: readonly { readonly file: string; readonly ms: number }[]
  readonly skippedLines: readonly string[]
  readonly output: readonly { readonly source: string; readonly text: string }[]
  readonly report: string
}

export interface VitestOptions {
  readonly prefix?: readonly string[]
  readonly timeoutMs: number
  readonly onProgress?: (done: number, all: number, failedFiles: number) => void
}
export function runVitest(args: readonly string[], options: VitestOptions): Promise<VitestResult>
