// What tests find in a page in place of Node: a `process` that hears of errors nobody caught, as far as a page can tell, and stand-ins
// for modules of the host. A test that uses a stand-in, or asks the process for what a page has not, is skipped by the name of it.

import { skipRunning } from './run-file.mjs'

/** Stands for a part of the host: called, it ends the running test as skipped; while modules load it is harmless. */
export function lacking(name) {
  const use = (of) => {
    skipRunning(`needs ${of}, which a page has not`)
    return lacking(of)
  }
  return new Proxy(function () {}, {
    get: (_target, key) => (key === Symbol.toPrimitive ? () => `(no ${name})` : key === 'then' ? undefined : lacking(name)),
    apply: () => use(name),
    construct: () => use(name),
  })
}

const listeners = { unhandledRejection: new Set(), uncaughtException: new Set(), warning: new Set() }
let elsewhere = () => {}

/** Hears of the errors that no test listens for. */
export function otherwise(hear) {
  elsewhere = hear
}

function spread(event, cause, told) {
  for (const listener of listeners[event]) listener(cause)
  if (listeners[event].size > 0) return
  // Whoever else listens says that it is theirs by preventing what the page would do.
  setTimeout(() => {
    if (!told.defaultPrevented) elsewhere(cause)
  }, 0)
}
globalThis.addEventListener('unhandledrejection', (event) => spread('unhandledRejection', event.reason, event))
globalThis.addEventListener('error', (event) => spread('uncaughtException', event.error ?? new Error(event.message), event))

/** Tests wait by it for the host to have served its events. */
const { port1, port2 } = new MessageChannel()
const tasks = []
port1.onmessage = () => tasks.shift()?.()
export function setImmediate(task) {
  tasks.push(task)
  port2.postMessage(null)
}

const known = {
  env: {},
  stdout: { write: (text) => console.log(text) },
  on: (event, listener) => void listeners[event].add(listener),
  off: (event, listener) => void listeners[event].delete(listener),
}
export const process = new Proxy(known, { get: (target, key) => (key in target ? target[key] : lacking(`process.${String(key)}`)) })
