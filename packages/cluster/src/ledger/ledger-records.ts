// Accounts and parts of a count as they come from other nodes. They are added up later, when nobody could say any more who sent them: what is not
// of their shape throws `BadRecord`, and ends the connection it came by.

import { BadRecord } from '@troupe/border'
import type { Account, CutPart } from './adding-up.ts'

const counted = ['sent', 'handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'unknown']
const flowing = ['sent', 'received', 'brokenSent', 'brokenReceived']
/** A node remembers as many sessions that have ended, and there are those that live. */
const most = 10_000

type Check = (value: unknown) => boolean

export function checkPart(part: unknown): CutPart {
  const { session, ledger, flows, ended } = part as Partial<Record<keyof CutPart, unknown>>
  const open = [...counted, 'queued', 'stashed', 'inProgress']
  if (typeof session === 'string' && areNumbers(open)(ledger) && eachOf(areNumbers(flowing))(flows) && eachOf(isAccount)(ended))
    return part as CutPart
  throw new BadRecord('a part of a count that is none')
}

export function checkAccount(account: unknown): Account {
  if (isAccount(account)) return account as Account
  throw new BadRecord('an account that is none')
}

function isAccount(value: unknown): boolean {
  return areNumbers(['beat', ...counted])(value) && eachOf(areNumbers(flowing))((value as Account).flows)
}

function areNumbers(names: readonly string[]): Check {
  return (value) => isRecord(value) && names.every((name) => Number.isSafeInteger(value[name]))
}

function eachOf(check: Check): Check {
  return (value) => isRecord(value) && Object.keys(value).length <= most && Object.values(value).every(check)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
