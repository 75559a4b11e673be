// What may be said about the page that is served, checked.

import { InvalidOption } from '@troupe/core'
import type { OwnPage } from '../feed/parts.ts'
import type { Redact } from './payload.ts'
import { checkBoolean, checkList, readOptions, type Table } from '@troupe/core/internal'

/** Where the page is, and what may be done with it. */
export interface PageOptions {
  /** The port; one that is free unless it is given. */
  readonly port?: number | undefined
  /**
   * The address to listen at, in place of the loopback addresses. Whoever can reach it and has the URL may look; there is no encryption: put a
   * proxy with TLS before it.
   */
  readonly address?: string | undefined
  /** What it is called in URLs, with a port where that is not its own: `localhost` unless it is given. Requests by another name are refused. */
  readonly hosts?: readonly string[] | undefined
  /** Lets whoever has the URL stop actors. Off unless it is given; each is an observation `control`. */
  readonly control?: boolean | undefined
  /**
   * Shows what messages hold, of the actor that is looked at. Off unless it is given: they may hold what is nobody's business. A function is called with the
   * name and value of every field, and what it returns is shown in its stead. What is called a password, token or the like is never shown; no getter is run.
   */
  readonly payloads?: boolean | Redact | undefined
  /** Pages of your own, by title: figures, tables and texts that a function returns, once a round while somebody has it open. */
  readonly pages?: Readonly<Record<string, OwnPage>> | undefined
}

export interface CheckedPage {
  readonly port: number
  readonly addresses: readonly string[]
  readonly hosts: readonly string[]
  readonly control: boolean
  readonly payloads: { readonly redact: Redact | undefined } | undefined
  readonly pages: ReadonlyMap<string, OwnPage>
}

const isHost = (one: unknown): boolean => typeof one === 'string' && /^([\w.-]+|\[[\da-f:]+\])(:\d+)?$/i.test(one)

const table: Table<PageOptions> = {
  port: (option, value) => {
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535) return value
    throw new InvalidOption(option, value, 'use a port from 0 to 65535')
  },
  address: (option, value) => {
    if (typeof value === 'string' && value !== '') return value
    throw new InvalidOption(option, value, 'use an IP address')
  },
  hosts: (option, value) => {
    const hosts = checkList(option, value, isHost, 'names such as "localhost" or "ops.example:8443"')
    if (hosts.length === 0) throw new InvalidOption(option, value, 'name at least one')
    return hosts
  },
  control: checkBoolean,
  payloads: (option, value) => {
    if (typeof value === 'boolean' || typeof value === 'function') return value
    throw new InvalidOption(option, value, 'use true, false, or a function of a name and a value')
  },
  pages: (option, value) => {
    if (typeof value !== 'object' || value === null) throw new InvalidOption(option, value, 'use an object of functions, by title')
    const pages = Object.entries(value)
    if (pages.length > pagesMost) throw new InvalidOption(option, value, `use at most ${pagesMost}`)
    for (const [title, show] of pages)
      if (typeof show !== 'function' || title === '' || title.length > longestTitle)
        throw new InvalidOption(`${option}.${title}`, show, `use a function that returns parts, under a title of up to ${longestTitle} characters`)
    return value
  },
}
const pagesMost = 12
const longestTitle = 40

export function checkedPage(options: PageOptions): CheckedPage {
  const { port = 0, address, hosts = ['localhost'], control = false, payloads = false, pages = {} } = readOptions('openPage', options, table)
  return {
    port,
    addresses: address === undefined ? ['127.0.0.1', '::1'] : [address],
    hosts,
    control,
    payloads: payloads === false ? undefined : { redact: payloads === true ? undefined : payloads },
    pages: new Map(Object.entries(pages)),
  }
}
