export interface Failure {
  readonly file: string
  readonly test: string
  readonly message: string
}
export function failureLines(failures: readonly Failure[]): string[]
export function summaryOf(text: string): string
