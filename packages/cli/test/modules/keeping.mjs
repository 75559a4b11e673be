// An application that has a journal.
import { lmdb, persistence } from '@troupe/persistence'

export const options = { logger: false, extensions: [persistence({ journal: lmdb(process.env.TROUPE_TEST_JOURNAL) })] }

export default function keeping() {}
