// Waiting on several channels for whichever is ready first. At most one case happens; the others leave no trace.

import { isAborted, reasonOf } from '../ports/on-abort.ts'
import { checkObject, unreadable } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import { cancelledBy, onAbort, signalOf, type WaitOptions } from './cancellation.ts'
import { type ChannelCore, coreOf, type Received, type Receiver, type Sender } from './channel.ts'

/** A value that `select` is to send where there is room. */
export class Sending {
  readonly channel: Sender<never>
  readonly value: unknown
  constructor(channel: Sender<never>, value: unknown) {
    this.channel = channel
    this.value = value
  }
}

/**
 * A case of `select` that sends.
 *
 * @example
 * await select({ in: requests, out: sending(replies, 'next') })
 */
export function sending<T>(channel: Sender<T>, value: T): Sending {
  return new Sending(channel, value)
}

/** What `select` waits on: channels to receive from, and `sending(channel, value)`. */
export type SelectCases = Readonly<Record<string, Receiver<unknown> | Sending>>

/** Which case happened, and what came of it. */
export type Selected<C extends SelectCases> = {
  [K in keyof C & string]: C[K] extends Receiver<infer T>
    ? { readonly key: K } & Received<T>
    : { readonly key: K; readonly done: false; readonly value: undefined }
}[keyof C & string]

interface Candidate {
  readonly key: string
  readonly core: ChannelCore<unknown>
  readonly sends: boolean
  readonly value: unknown
}

/**
 * Waits until one of the cases can happen, and lets exactly that one happen.
 *
 * Guarantees: where several are ready, they take turns; a case that did not happen neither sent nor received anything.
 * A closed and drained channel is ready, with `done: true`. Fails: rejects with `ChannelClosed` where a chosen case
 * sends to a closed channel, with `Cancelled` when aborted.
 *
 * @example
 * const got = await select({ job: jobs, quit: quits }, { signal: ctx.signal })
 * if (got.key === 'job' && !got.done) work(got.value)
 */
export function select<const C extends SelectCases>(cases: C, options?: WaitOptions): Promise<Selected<C>> {
  return new Promise((resolve, reject) => {
    const signal = signalOf('select', options)
    const candidates = candidatesOf(cases)
    if (isAborted(signal)) throw cancelledBy('The select', reasonOf(signal!))
    const ready = poll(candidates)
    if (ready !== undefined) return resolve(ready as Selected<C>)
    const end = (): void => {
      for (const out of leave) out()
    }
    // Listens first: what is not a signal must not leave waiters behind that would take values with them.
    const leave = [
      onAbort(signal, (reason) => {
        end()
        reject(cancelledBy('The select', reason))
      }),
    ]
    for (const { key, core, sends, value } of candidates) {
      const happened = (received: Received<unknown> | void): void => {
        end()
        resolve({ key, ...(received ?? { done: false, value: undefined }) } as Selected<C>)
      }
      const failed = (cause: unknown): void => {
        end()
        reject(cause)
      }
      if (sends) {
        const waiter = core.senders.add(value, happened, failed)
        leave.push(() => core.senders.remove(waiter))
      } else {
        const waiter = core.receivers.add(undefined, happened, failed)
        leave.push(() => core.receivers.remove(waiter))
      }
    }
  })
}

function candidatesOf(cases: SelectCases): Candidate[] {
  checkObject('cases', cases)
  try {
    return lookAt(cases)
  } catch (cause) {
    throw unreadable('cases', cases, cause)
  }
}

function lookAt(cases: SelectCases): Candidate[] {
  const candidates = Object.entries(cases).map(([key, given]): Candidate => {
    const sends = given instanceof Sending
    const core = coreOf(sends ? given.channel : given)
    if (core === undefined) throw new InvalidOption(`cases.${key}`, given, 'use a channel, or sending(channel, value)')
    return { key, core, sends, value: sends ? given.value : undefined }
  })
  if (candidates.length === 0) throw new InvalidOption('cases', cases, 'give select at least one case')
  return candidates
}

/** The first case that can happen at once, beginning with another one each time. */
function poll(candidates: readonly Candidate[]): object | undefined {
  const from = candidates[0]!.core.turns++
  for (let i = 0; i < candidates.length; i++) {
    const { key, core, sends, value } = candidates[(from + i) % candidates.length]!
    if (!sends) {
      const received = core.poll()
      if (received !== undefined) return { key, ...received }
    } else if (core.offer(value)) return { key, done: false, value: undefined }
  }
  return undefined
}
