// The public API of @troupe/testkit, by hand.

export { type ContractCase, mailboxContract, type MailboxContractOptions } from './mailbox-contract.ts'
export { Probe } from './probe.ts'
export { createTestKit, type LogLine, seeded, type TestKit } from './test-kit.ts'
export { VirtualClock } from './virtual-time.ts'
