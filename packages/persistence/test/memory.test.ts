import { memory } from '@troupe/persistence'
import { journalContract } from './contract/contract.ts'

journalContract('memory()', () => Promise.resolve({ source: memory(), dispose: () => Promise.resolve() }), true)
