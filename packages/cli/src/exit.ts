// What the command ends with, and what it says then.

/** All went well; something will not get better by itself, or is not there; it was called wrongly; there is nothing to look at. */
export const exitCodes = { fine: 0, found: 1, usage: 2, unreachable: 3 } as const

/** As help and guide say it. */
export const exitCodesSaid =
  '0 fine, 1 something will not get better by itself (■ of doctor; ▲ is 0), failed or is not there, 2 called wrongly, 3 no system to look at'

/** Ends the command with one line on standard error. */
export class Exit extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
