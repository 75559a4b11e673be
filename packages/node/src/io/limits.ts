// What the options of connections must be, said before anything is opened: a credit of NaN would let memory grow without
// bound, and nobody would know why. Also what is meant where they are left out.

import { InvalidOption } from 'troupe'
import { checkBoolean, checkFinite, checkFunction, checkKnown, checkOneOf, checkRef, checkWhole } from 'troupe/internal'
import type { LinkLimits } from './link.ts'
import type { ConnectionOptions } from './protocol.ts'
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

type Check = (option: string, value: unknown) => unknown

const milliseconds: Check = (option, value) => checkFinite(option, value, 'from')
const someMilliseconds: Check = (option, value) => checkFinite(option, value, 'above')
const atLeastOne: Check = (option, value) => checkWhole(option, value, 1)
const natural: Check = (option, value) => checkWhole(option, value, 0)
const atMost31Bits: Check = (option, value) => {
  if (value !== Infinity && checkWhole(option, value, 1) >= 2 ** 31)
    throw new InvalidOption(option, value, 'use a whole number from 1 to 2147483647, or Infinity for none')
}
/** A bound; `Infinity` says aloud that there is none. */
const bound: Check = (option, value) => (value === Infinity ? value : checkWhole(option, value, 1))
const text: Check = (option, value) => {
  if (typeof value !== 'string' || value === '') throw new InvalidOption(option, value, 'use a text that is not empty')
}
const port: Check = (option, value) => {
  if (checkWhole(option, value, 0) > 65_535) throw new InvalidOption(option, value, 'use a whole number from 0 to 65535')
}
const any: Check = () => {}

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
  spawn: any,
  supervisor: checkRef,
  under: checkRef,
  tls: any,
}

export const connectChecks: Checks = {
  ...connectionChecks,
  ...placeChecks,
  connectTimeout: someMilliseconds,
  owner: checkRef,
  handler: checkFunction,
  tls: any,
}

const adoptedEvents = ['data', 'readable', 'writable', 'drained', 'half-closed', 'error', 'closed', 'connected'] as const

export const adoptChecks: Checks = {
  ...connectionChecks,
  owner: checkRef,
  interest: (option, value) => {
    if (!Array.isArray(value)) throw new InvalidOption(option, value, "use an array of events, such as ['readable', 'closed']")
    value.forEach((word, i) => checkOneOf(`${option}[${i}]`, word, adoptedEvents))
  },
}

export const fileChecks: Checks = { ...connectionChecks, owner: checkRef, start: natural, end: natural, chunkSize: atLeastOne, mode: natural }

export const webSocketChecks: Checks = {
  ...sharedChecks, // `ws` counts in 32 bits, and takes what does not fit for no bound.
  maxMessage: atMost31Bits,
  pingEvery: milliseconds,
  owner: checkRef,
  handler: checkFunction,
}

export const webSocketAcceptChecks: Checks = { ...webSocketChecks, path: text, accept: checkFunction, spawn: any }

export const webSocketConnectChecks: Checks = { ...webSocketChecks, headers: any, connectTimeout: someMilliseconds, ca: any }

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
  websocket: any,
  tls: any,
}

export const udpChecks: Checks = {
  owner: checkRef,
  port,
  host: text,
  version: (option, value) => {
    if (value !== 4 && value !== 6) throw new InvalidOption(option, value, 'use 4 or 6')
  },
  credits: atLeastOne,
  maxBuffered: bound,
  linger: milliseconds,
  reuseAddress: checkBoolean,
}

export const processChecks: Checks = {
  owner: checkRef,
  args: any,
  cwd: any,
  env: any,
  credits: atLeastOne,
  maxBuffered: bound,
  killAfter: milliseconds,
}

/** What bounds decoders. */
export const lineFramingChecks: Checks = { maxLength: bound, encoding: any }

export const lengthFramingChecks: Checks = {
  maxLength: bound,
  prefix: (option, value) => {
    if (value !== 1 && value !== 2 && value !== 4) throw new InvalidOption(option, value, 'use 1, 2 or 4')
  },
}

export const replyFramingChecks: Checks = { maxBulk: bound, maxElements: bound, maxDepth: bound, maxLine: bound }

export const requestFramingChecks: Checks = { maxArguments: bound, maxBulk: bound, maxCommand: bound, maxInline: bound, argument: checkFunction }

export const lineChecks: Checks = { owner: checkRef, credits: atLeastOne, maxLength: bound, input: any }

export const signalChecks: Checks = { signals: any, owner: checkRef, shutdown: any, deadline: milliseconds }

export const watchChecks: Checks = { owner: checkRef, recursive: checkBoolean }

/** Refuses options that are wrong, misspelt, or lack one of those that are `needed`. */
export function checkOptions(whose: string, options: object, checks: Checks, needed: readonly string[] = []): void {
  checkKnown(whose, options, Object.keys(checks))
  const given = options as Readonly<Record<string, unknown>>
  for (const option in given) if (given[option] !== undefined) checks[option]!(option, given[option])
  if (needed.length > 0 && needed.every((option) => given[option] === undefined))
    throw new InvalidOption(needed.join(' and '), undefined, `${whose} needs ${needed.length > 1 ? 'one of them' : 'it'}`)
}
