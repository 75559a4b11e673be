/** What the fuzz found. */
export interface FuzzReport {
  readonly frames: number
  readonly commands: number
  readonly replies: number
  readonly refused: number
  readonly other: number
  readonly held: number
  readonly heapGrowth: number
  readonly worst: number
  readonly worstBytes: number
  readonly p9999: number
  readonly ms: number
}
export function fuzzResp(options: {
  readonly respRequests: (...options: never[]) => unknown
  readonly respReplies: (...options: never[]) => unknown
  readonly frames: number
  readonly seed: number
}): FuzzReport
