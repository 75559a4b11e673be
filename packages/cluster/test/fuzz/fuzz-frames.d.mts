export interface FramesReport {
  inputs: number
  bytes: number
  taken: number
  refused: number
  others: number
  firstOther: string | undefined
  worst: number
  worstBytes: number
  measured: number
  greediest: number
  greediestInput: string
}

export const perByte: number
export function fuzzFrames(options: {
  readonly parts: object
  readonly random: () => number
  readonly inputs: number
  readonly measureEvery: number
  readonly gc?: (() => void) | undefined
}): FramesReport
