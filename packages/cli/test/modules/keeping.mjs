// An application that has a journal.
import { persistence, sqliteJournal } from '@troupe/persistence'

export const options = { logger: false, extensions: [persistence({ journal: sqliteJournal(process.env.TROUPE_TEST_JOURNAL) })] }

export default function keeping() {}
