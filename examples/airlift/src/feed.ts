// What a page is told, as bytes: a length, a kind, and what it is. Drones are told as the curve that they fly, once when it begins: a page draws
// sixty times a second what it heard once in twenty.

import { phases, type Sky } from './sky.ts'
import { height, type Point, width } from './world.ts'

/** Kinds of frames. */
export const frameKinds = { hello: 0, rows: 1, status: 2 } as const

/** Bytes of a drone: its number, phase, six coordinates, how long ago it began, how long it takes. */
export const rowBytes = 23
const most = 65_535

export function textFrame(kind: 'hello' | 'status', value: unknown): Uint8Array {
  const text = Buffer.from(JSON.stringify(value))
  const frame = Buffer.allocUnsafe(5 + text.length)
  frame.writeUInt32LE(text.length + 1, 0)
  frame[4] = frameKinds[kind]
  text.copy(frame, 5)
  return frame
}

/** The rows of some drones, as of now. */
export function rowsFrame(sky: Sky, drones: Uint16Array, now: number): Uint8Array {
  const frame = Buffer.allocUnsafe(13 + rowBytes * drones.length)
  frame.writeUInt32LE(frame.length - 4, 0)
  frame[4] = frameKinds.rows
  frame.writeDoubleLE(now, 5)
  let at = 13
  for (const drone of drones) {
    frame.writeUInt16LE(drone, at)
    frame[at + 2] = sky.phase[drone]!
    for (let i = 0; i < 6; i++) {
      const scaled = (sky.curve[6 * drone + i]! / (i % 2 === 0 ? width : height)) * most
      frame.writeUInt16LE(Math.min(most, Math.max(0, Math.round(scaled))), at + 3 + 2 * i)
    }
    const takes = sky.takes[drone]!
    frame.writeInt32LE(takes === 0 ? 0 : Math.max(-1e9, Math.round(sky.began[drone]! - now)), at + 15)
    frame.writeUInt32LE(Math.round(takes), at + 19)
    at += rowBytes
  }
  return frame
}

/** Puts rows that another process told into the sky of this one. */
export function readRows(frame: Uint8Array, sky: Sky): void {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const now = view.getFloat64(5, true)
  for (let at = 13; at < frame.byteLength; at += rowBytes) {
    const place = (i: number): Point => ({
      x: (view.getUint16(at + 3 + 4 * i, true) / most) * width,
      y: (view.getUint16(at + 5 + 4 * i, true) / most) * height,
    })
    const flight = { from: place(0), bend: place(1), to: place(2), began: now + view.getInt32(at + 15, true), takes: view.getUint32(at + 19, true) }
    sky.fly(view.getUint16(at, true), phases[view.getUint8(at + 2)]!, flight)
  }
}
