// What the options of connections must be, said before anything is opened: a credit of NaN would let memory grow without
// bound, and nobody would know why. Also what is meant where they are left out.

import { InvalidOption, type SpawnOptions } from '@troupe/core'
import {
  any,
  type Check,
  checkBoolean,
  checkCan,
  checkFinite,
  checkFunction,
  checkObject,
  checkOneOf,
  checkPart,
  checkRef,
  checkString,
  checkText as text,
  checkWhole,
  readOptions,
  spawnTable,
  type Table,
} from '@troupe/core/internal'
import type { LinkLimits } from './stream-link.ts'
import type { ConnectionOptions } from './protocol.ts'
import type { WebSocketAcceptOptions } from './websocket-acceptor.ts'
import type { WebSocketOptions } from './websocket-protocol.ts'

const mebibyte = 1024 * 1024

export function connectionLimits(options: ConnectionOptions): LinkLimits {
  const { credits = 16, maxBuffered = 16 * mebibyte, ack, paused } = options
  return { credits, maxBuffered, manual: ack === 'manual', paused }
}

export function webSocketLimits(options: WebSocketOptions): LinkLimits {
  const { credits = 64, maxBuffered = 4 * mebibyte } = options
  return { credits, maxBuffered }
}

/**
 * What `ws` is to take of one message. A fragment costs more than a hundred bytes of its own, so that a message in fragments of one byte would
 * take a hundred times its size; in fragments of 64 bytes, a few times.
 */
export function messageLimits({ maxMessage = mebibyte }: WebSocketOptions): { readonly maxPayload: number; readonly maxFragments: number } {
  return { maxPayload: maxMessage, maxFragments: Math.max(16_384, Math.ceil(maxMessage / 64)) }
}

const milliseconds: Check = (option, value) => checkFinite(option, value, 'from')
const someMilliseconds: Check = (option, value) => checkFinite(option, value, 'above')
const atLeastOne: Check = (option, value) => checkWhole(option, value, 1)
const natural: Check = (option, value) => checkWhole(option, value, 0)
/** A bound; `Infinity` says aloud that there is none. */
const bound: Check = (option, value) => (value === Infinity ? value : checkWhole(option, value, 1))
const atMost31Bits: Check = (option, value) => {
  if (value === Infinity || checkWhole(option, value, 1) < 2 ** 31) return value
  throw new InvalidOption(option, value, 'use a whole number from 1 to 2147483647, or Infinity for none')
}
const port: Check = (option, value) => {
  if (checkWhole(option, value, 0) <= 65_535) return value
  throw new InvalidOption(option, value, 'use a whole number from 0 to 65535')
}
const oneOf =
  (...values: readonly unknown[]): Check =>
  (option, value) => {
    if (values.includes(value)) return value
    throw new InvalidOption(option, value, `use ${values.map((v) => (typeof v === 'string' ? `'${v}'` : v)).join(' or ')}`)
  }
/** Copied, so that what is done to the array later changes nothing. */
const listOf =
  (check: Check): Check =>
  (option, value) => {
    if (!Array.isArray(value)) throw new InvalidOption(option, value, 'use an array')
    return value.map((one, i) => check(`${option}[${i}]`, one))
  }
const spawn: Check = (option, value) => checkPart(option, value, spawnTable as Table<SpawnOptions>)

/** The checks of one kind of options; an option that is not among them is refused. */
export type Checks = Readonly<Record<string, Check>>

const sharedChecks: Checks = { credits: atLeastOne, maxBuffered: bound, idleTimeout: someMilliseconds }

export const connectionChecks: Checks = {
  ...sharedChecks,
  ack: (option, value) => checkOneOf(option, value, ['handled', 'manual']),
  halfOpen: checkBoolean,
  paused: checkBoolean,
  linger: milliseconds,
}

const placeChecks: Checks = { port, host: text, path: text }

export const listenChecks: Checks = {
  ...connectionChecks,
  ...placeChecks,
  backlog: natural,
  // Node takes 0 for no bound at all.
  maxConnections: bound,
  owner: checkRef,
  handler: checkFunction,
  spawn,
  supervisor: checkRef,
  under: checkRef,
  tls: checkObject,
}

export const connectChecks: Checks = {
  ...connectionChecks,
  ...placeChecks,
  connectTimeout: someMilliseconds,
  owner: checkRef,
  handler: checkFunction,
  tls: checkObject,
}

const adoptedEvents = ['data', 'readable', 'writable', 'drained', 'half-closed', 'error', 'closed', 'connected'] as const

export const adoptChecks: Checks = { ...connectionChecks, owner: checkRef, interest: listOf(oneOf(...adoptedEvents)) }

export const fileChecks: Checks = { ...connectionChecks, owner: checkRef, start: natural, end: natural, chunkSize: atLeastOne, mode: natural }

export const webSocketChecks: Checks = {
  ...sharedChecks, // `ws` counts in 32 bits, and takes what does not fit for no bound.
  maxMessage: atMost31Bits,
  pingEvery: milliseconds,
  owner: checkRef,
  handler: checkFunction,
}

export const webSocketAcceptChecks: Checks = { ...webSocketChecks, path: text, accept: checkFunction, acceptTimeout: someMilliseconds, spawn }

export const webSocketConnectChecks: Checks = { ...webSocketChecks, headers: checkObject, connectTimeout: someMilliseconds, ca: any }

export const httpChecks: Checks = {
  ...placeChecks,
  owner: checkRef,
  body: (option, value) => checkOneOf(option, value, ['collect', 'stream']),
  maxBody: bound,
  responseTimeout: someMilliseconds,
  requestTimeout: milliseconds,
  idleTimeout: someMilliseconds,
  maxRequests: bound,
  maxPipelined: bound,
  maxBuffered: bound,
  websocket: (option, value) => {
    checkObject(option, value)
    return checkOptions(option, value as WebSocketAcceptOptions, webSocketAcceptChecks, ['owner', 'handler'])
  },
  tls: checkObject,
}

export const udpChecks: Checks = {
  owner: checkRef,
  port,
  host: text,
  version: oneOf(4, 6),
  credits: atLeastOne,
  maxBuffered: bound,
  linger: milliseconds,
  reuseAddress: checkBoolean,
}

export const processChecks: Checks = {
  owner: checkRef,
  args: listOf(checkString),
  cwd: text,
  env: checkObject,
  credits: atLeastOne,
  maxBuffered: bound,
  killAfter: milliseconds,
}

const checkEncoding: Check = (option, value) => {
  if (typeof value === 'string' && Buffer.isEncoding(value)) return value
  throw new InvalidOption(option, value, 'use an encoding that Node knows, such as utf8')
}

/** What bounds decoders. */
export const lineFramingChecks: Checks = { maxLength: bound, encoding: checkEncoding }

export const lengthFramingChecks: Checks = {
  maxLength: bound,
  prefix: oneOf(1, 2, 4),
}

export const replyFramingChecks: Checks = { maxBulk: bound, maxElements: bound, maxDepth: bound, maxLine: bound }

export const requestFramingChecks: Checks = { maxArguments: bound, maxBulk: bound, maxCommand: bound, maxInline: bound, argument: checkFunction }

const readable: Check = (option, value) => checkCan(option, value, ['a readable stream', 'on', 'resume', 'pause'])
export const lineChecks: Checks = { owner: checkRef, credits: atLeastOne, maxLength: bound, input: readable }

export const signalChecks: Checks = {
  signals: listOf(text),
  owner: checkRef,
  shutdown: (option, value) => checkCan(option, value, ['an ActorSystem', 'shutdown']),
  deadline: milliseconds,
}

export const watchChecks: Checks = { owner: checkRef, recursive: checkBoolean }

/** The options, each read and checked once; refuses what is wrong, misspelt, or lacks one of those that are `needed`. */
export function checkOptions<T extends object>(whose: string, options: T, checks: Checks, needed: readonly (keyof T & string)[] = []): T {
  const read = readOptions(whose, options, checks as unknown as Table<T>)
  checkNeeded(whose, read, needed)
  return read
}

/** Refuses options without any of these. */
export function checkNeeded<T extends object>(whose: string, read: T, needed: readonly (keyof T & string)[]): void {
  if (needed.length > 0 && needed.every((option) => read[option] === undefined))
    throw new InvalidOption(needed.join(' and '), undefined, `${whose} needs ${needed.length > 1 ? 'one of them' : 'it'}`)
}
