// Two streams, each the other's peer, for tests that want a connection on virtual time.

import { Duplex } from 'node:stream'

/** One of two streams, each reading what the other is written. */
class End extends Duplex {
  peer!: End
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.peer.push(chunk)
    done()
  }
  override _final(done: () => void): void {
    this.peer.push(null)
    done()
  }
}

export function pair(): { readonly near: Duplex; readonly far: Duplex } {
  const [near, far] = [new End(), new End()]
  near.peer = far
  far.peer = near
  return { near, far }
}
