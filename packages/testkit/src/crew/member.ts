// A process of the crew: simulates the blocks that it is sent, one after the other, and sends back what came of each.

import { type Block, type BlockResult, runBlock } from './block.ts'

interface Host {
  readonly process: {
    on(event: 'message', listener: (block: Block) => void): void
    on(event: 'disconnect' | 'SIGINT' | 'SIGTERM', listener: () => void): void
    send(result: BlockResult): void
    exit(): void
  }
}
const { process } = globalThis as unknown as Host

process.on('message', (block) => void runBlock(block).then((result) => process.send(result)))
process.on('disconnect', () => process.exit())
// A terminal sends these to all: whoever leads the crew decides, and has a report to make.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
