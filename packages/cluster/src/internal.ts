// What sibling folders of this repository need and users do not.

export { Channels } from './channel/channels.ts'
export { ackFrame, headSize, resetFrame, writeHead } from './channel/frame.ts'
export { sizeOf, writeRecord } from './channel/record.ts'
export { VirtualTiming } from './testing/virtual-timing.ts'
