// What may be said about the page that is served, checked.

import { InvalidOption } from '@troupe/core'
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
}

export interface CheckedPage {
  readonly port: number
  readonly addresses: readonly string[]
  readonly hosts: readonly string[]
  readonly control: boolean
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
}

export function checkedPage(options: PageOptions): CheckedPage {
  const { port = 0, address, hosts = ['localhost'], control = false } = readOptions('openPage', options, table)
  return { port, addresses: address === undefined ? ['127.0.0.1', '::1'] : [address], hosts, control }
}
