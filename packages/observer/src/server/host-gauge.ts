// How the process is that the system runs in: how late its event loop is, what the collector takes, what it has of memory and of the
// processor. Measures only between `start` and `stop`.

import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { HostNews } from '../feed/news.ts'

/** Milliseconds between two looks at how late the loop is. */
const resolution = 10

export class HostGauge {
  #delay: IntervalHistogram | undefined
  #collector: PerformanceObserver | undefined
  #gcMs = 0
  #gcCount = 0
  #cpu = process.cpuUsage()
  #readAt = 0

  start(): void {
    if (this.#delay !== undefined) return
    this.#delay = monitorEventLoopDelay({ resolution })
    this.#delay.enable()
    this.#collector = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        this.#gcMs += duration
        this.#gcCount++
      }
    })
    this.#collector.observe({ entryTypes: ['gc'] })
    this.#cpu = process.cpuUsage()
    this.#readAt = performance.now()
  }

  stop(): void {
    this.#delay?.disable()
    this.#delay = undefined
    this.#collector?.disconnect()
    this.#collector = undefined
    this.#gcMs = this.#gcCount = 0
  }

  /** Since it was read the last time. */
  read(): HostNews {
    const delay = this.#delay
    const now = performance.now()
    const passed = Math.max(1, now - this.#readAt)
    const used = process.cpuUsage(this.#cpu)
    const { used_heap_size: heapUsed, heap_size_limit: heapLimit } = getHeapStatistics()
    // The histogram has the whole interval, of which the resolution is no delay.
    const late = (ns: number | undefined): number => (ns === undefined || !Number.isFinite(ns) ? 0 : Math.max(0, ns / 1e6 - resolution))
    const news: HostNews = {
      delayP99: late(delay?.percentile(99)),
      delayMax: late(delay?.max),
      gcMs: this.#gcMs,
      gcCount: this.#gcCount,
      heapUsed,
      heapLimit,
      rss: process.memoryUsage.rss(),
      cpu: (used.user + used.system) / 1000 / passed,
    }
    delay?.reset()
    this.#gcMs = this.#gcCount = 0
    this.#cpu = process.cpuUsage()
    this.#readAt = now
    return news
  }
}
