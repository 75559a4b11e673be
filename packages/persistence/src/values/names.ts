// Text that names something in a journal: ids, tags, timers, subjects. What one journal could not tell from another name is refused for all of
// them, and at once: a name with half a pair of surrogates would be read as another one by whatever keeps UTF-8.

/** Whether UTF-8 can hold it. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** Whether it is a text of 1 to so many characters, which every journal can keep as it is. */
export function isName(text: unknown, most: number): text is string {
  return typeof text === 'string' && text !== '' && text.length <= most && isWellFormed(text)
}
