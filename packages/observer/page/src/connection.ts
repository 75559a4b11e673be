// The way to the system: one stream for the view that is open, and single questions. The stream is ended while the tab is hidden, and begun
// anew when it was lost. The token came with the address and goes along with every request.

import { effect } from '@preact/signals'
import { FrameReader } from '../../src/feed/frames.ts'
import type { View } from '../../src/feed/news.ts'
import { madeBrief } from './brief.ts'
import { link, take, view } from './store.ts'

const kept = 'troupe-token'
const tokenHeader = 'x-troupe-token'
const retryFirst = 500
const retryLast = 5000

function tokenHere(): string {
  const { hash } = location
  if (hash.length > 1 && !hash.startsWith('#/')) {
    sessionStorage.setItem(kept, hash.slice(1))
    // Out of the address, so that it is not in what somebody copies or records.
    history.replaceState(null, '', '#/overview')
  }
  return sessionStorage.getItem(kept) ?? ''
}
let token = ''

/** What this page was saved with: then nobody is asked. */
let answers: Readonly<Record<string, unknown>> | undefined
export function answerFrom(saved: Readonly<Record<string, unknown>>): void {
  answers = saved
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', [tokenHeader]: token }
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) })
}

/** The answer; undefined where there is none. */
export async function ask<T>(name: string, body: object = {}): Promise<T | undefined> {
  if (answers !== undefined) return answers[name] as T | undefined
  try {
    const response = await post(`/api/${name}`, body)
    if (!response.ok) return undefined
    const answer = (await response.json()) as T
    // A capsule is kept as it is, and not shown.
    return name === 'capsule' ? answer : madeBrief(answer)
  } catch {
    return undefined
  }
}

export function connect(): void {
  token = tokenHere()
  let stop: (() => void) | undefined
  const again = (): void => {
    stop?.()
    stop = undefined
    if (document.hidden) link.value = 'hidden'
    else stop = stream(view.peek())
  }
  document.addEventListener('visibilitychange', again)
  effect(() => {
    void view.value
    again()
  })
}

/** Reads until it is stopped; begins again when the stream was lost. */
function stream(of: View): () => void {
  const ended = new AbortController()
  void (async () => {
    let wait = retryFirst
    while (!ended.signal.aborted) {
      try {
        const response = await post('/api/feed', { view: of }, ended.signal)
        if (response.status === 401) {
          link.value = 'denied'
          return
        }
        if (response.ok && response.body !== null) {
          wait = retryFirst
          await read(response.body)
        }
      } catch {
        // Lost, or stopped: both are looked at below.
      }
      if (ended.signal.aborted || link.peek() === 'ended') return
      link.value = 'lost'
      await new Promise((resolve) => setTimeout(resolve, wait))
      wait = Math.min(retryLast, wait * 2)
    }
  })()
  return () => ended.abort()
}

async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  const frames = new FrameReader()
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    for (const frame of frames.take(value)) {
      if (link.peek() !== 'live') link.value = 'live'
      take(frame.kind === 'cells' ? frame : madeBrief(frame))
    }
  }
}
