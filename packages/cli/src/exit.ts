// What the command ends with, and what it says then.

/** All went well; something needs attention; it was called wrongly; there is nothing to look at. */
export const exitCodes = { fine: 0, found: 1, usage: 2, unreachable: 3 } as const

/** Ends the command with one line on standard error. */
export class Exit extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
