// The stream of a file descriptor that is open already: sockets, pipes and terminals, by what the system says it is. What is
// always ready, and what has no stream, is refused, with what to use instead.

import { fstatSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isatty, ReadStream, WriteStream } from 'node:tty'
import { InvalidOption } from '@troupe/core'

/** Ways that a stream goes. */
export interface Directions {
  readonly reads: boolean
  readonly writes: boolean
}

/**
 * A stream around the descriptor, which from then on belongs to it. `needs` are the ways that it must go; where the system does not
 * say which ways it does, those of them, or else to be written.
 */
export function streamOf(fd: number, needs: Directions): Duplex {
  const refuse = (why: string): never => {
    throw new InvalidOption('fd', fd, why)
  }
  if (!Number.isInteger(fd) || fd < 0 || fd >= 2 ** 31) return refuse('use the number of an open file descriptor')
  // The one that reads also writes.
  if (isatty(fd)) return needs.reads ? new ReadStream(fd) : new WriteStream(fd)
  const kind = kindOf(fd, refuse)
  if (kind.isFile()) return refuse('it is a file, which is always ready; use file.read or file.append with its path')
  if (kind.isDirectory()) return refuse('it is a directory; use file.watch with its path')
  if (!kind.isSocket() && !kind.isFIFO()) return refuse('it is a device without a stream; only sockets, pipes and terminals can be adopted')
  const { reads, writes } = kind.isSocket() ? both : (directionsOf(fd) ?? { reads: needs.reads, writes: needs.writes || !needs.reads })
  if (needs.reads && !reads) return refuse('it is the end of a pipe that can only be written')
  if (needs.writes && !writes) return refuse('it is the end of a pipe that can only be read')
  try {
    return new Socket({ fd, readable: reads, writable: writes, allowHalfOpen: true })
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_INVALID_FD_TYPE') throw cause
    return refuse('it is a socket without a stream; for datagrams use udp.bind')
  }
}

const both: Directions = { reads: true, writes: true }

function kindOf(fd: number, refuse: (why: string) => never): ReturnType<typeof fstatSync> {
  try {
    return fstatSync(fd)
  } catch (cause) {
    return refuse(`nothing is open there (${(cause as { code?: string }).code})`)
  }
}

/** Which way a pipe goes, where the system says so. */
function directionsOf(fd: number): Directions | undefined {
  let info: string
  try {
    info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
  } catch {
    return undefined
  }
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1]
  if (flags === undefined) return undefined
  // The last two bits: 0 reads, 1 writes, 2 does both.
  const access = Number.parseInt(flags, 8) & 3
  return { reads: access !== 1, writes: access !== 0 }
}
