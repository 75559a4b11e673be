// Timers that a test turns by hand: setTimeout, setInterval and their ends, and the clocks that go with them.
// In order of due time, then of setting; a timer set while turning comes in its turn.

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
}
const realNow = { date: Date.now, performance: performance.now.bind(performance) }
const ownNow = Object.getOwnPropertyDescriptor(performance, 'now')
let now = 0
let timers = []

class FakeTimer {
  constructor(task, ms, every, args) {
    // As hosts do: what does not fit in 32 bits is due at once.
    const wait = ms > 2 ** 31 - 1 || !(ms >= 1) ? 1 : Math.trunc(ms)
    Object.assign(this, { task, at: now + wait, every: every ? wait : undefined, args })
    timers.push(this)
  }
  ref() {
    return this
  }
  unref() {
    return this
  }
  hasRef() {
    return true
  }
  refresh() {
    return this
  }
}

const clear = (timer) => void (timers = timers.filter((t) => t !== timer))

export function fakeTimers() {
  timers = []
  now = realNow.date.call(Date)
  const start = realNow.performance() - now
  globalThis.setTimeout = (task, ms, ...args) => new FakeTimer(task, ms, false, args)
  globalThis.setInterval = (task, ms, ...args) => new FakeTimer(task, ms, true, args)
  globalThis.clearTimeout = globalThis.clearInterval = clear
  Date.now = () => now
  performance.now = () => start + now
}

export function realTimers() {
  Object.assign(globalThis, real)
  Date.now = realNow.date
  delete performance.now
  if (ownNow !== undefined) Object.defineProperty(performance, 'now', ownNow)
}

function next() {
  return timers.reduce((first, timer) => (first === undefined || timer.at < first.at ? timer : first), undefined)
}

function fire(timer) {
  now = Math.max(now, timer.at)
  if (timer.every === undefined) clear(timer)
  else timer.at += timer.every
  timer.task(...timer.args)
}

export function turnTo(ms) {
  const end = now + ms
  for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) fire(timer)
  now = end
}

export function turnToNext() {
  const timer = next()
  if (timer !== undefined) fire(timer)
}
