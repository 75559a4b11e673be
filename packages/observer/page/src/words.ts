// Numbers and times as they are shown.

import { count, duration } from '../../src/findings/words.ts'

export { count, duration }

/** 1,234,567 */
export const exact = (n: number): string => Math.round(n).toLocaleString('en-US')
/** 12.3 MB */
export function bytes(n: number): string {
  return n < 1e6 ? `${Math.round(n / 1e3)} KB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`
}
/** 3.4 ms, and 0 ms for nothing. */
export const ms = (n: number): string => (n < 0.05 ? '0 ms' : n < 100 ? `${n.toFixed(1)} ms` : duration(n))
export const percent = (n: number): string => `${n < 0.1 ? (n * 100).toFixed(1) : Math.round(n * 100)} %`
/** 14:03:09 */
export const timeOfDay = (epoch: number): string => new Date(epoch).toLocaleTimeString('en-GB')
export const plural = (n: number, word: string): string => `${count(n)} ${word}${n === 1 ? '' : 's'}`
