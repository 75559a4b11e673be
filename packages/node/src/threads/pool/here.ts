// Whether this code runs on a thread that Troupe has made.

let made = false

/** Said once, by the entry of such a thread. */
export function onMadeThread(): void {
  made = true
}
export function isMadeThread(): boolean {
  return made
}
