// Keyed timers that are replaced, cancelled and outlived by their incarnation; receive timeouts; outside timers.

import { type Behavior, bounded, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Clock =
  | { readonly type: 'tick'; readonly key: string; readonly round: number; readonly life: number }
  | { readonly type: 'set' | 'every' | 'tiny' | 'cancel' | 'cancel-all' | 'fail' | 'wait' | 'late' | 'silence' | 'talk' }

function run(sim: Simulation): void {
  // Now and then nothing disturbs it: then what it set at its start must tick, and silence must be noticed.
  const calm = sim.choose(5) === 4
  let silences = 0
  let lives = 0
  let ticks = 0
  let outside = 0
  let armedOutside = 0
  let there = 0
  const elsewhere = sim.calmly(() => sim.system.spawn(receive<'here'>(() => void there++)))
  const clock: Behavior<Clock> = setup<Clock>((ctx) => {
    const life = ++lives
    const begun = sim.now
    const rounds = new Map<string, number>()
    const due = new Map<string, number>()
    /** Timers that nobody cancelled, and when each ticks first. */
    const armed = new Map<string, number>()
    let tiny = 0
    let silence: number | undefined
    let quietSince = sim.now
    const set = (key: string, every: boolean): void => {
      const round = (rounds.get(key) ?? 0) + 1
      const ms = sim.oneOf([10, 0, 25, 10])
      rounds.set(key, round)
      due.set(key, sim.now + ms)
      armed.set(key, sim.now + ms)
      if (every) ctx.timers.every(key, ms + 20, { type: 'tick', key, round, life })
      else ctx.timers.once(key, ms, { type: 'tick', key, round, life })
    }
    /** Whatever became of the ticks of those that it replaced: a timer is there until it ticks. */
    const look = (): void => {
      for (const [k, at] of armed) sim.check(sim.now >= at || ctx.timers.has(k), `timer ${k} is gone before it ticked`)
    }
    try {
      set('a', false)
      sim.check(ctx.timers.has('a'), 'a timer that was set is not there')
    } catch (cause) {
      sim.check(false, `a fresh context refuses a timer: ${String(cause)}`)
    }
    if (calm) ctx.setReceiveTimeout((silence = 30))
    ctx.timers.once('elsewhere', 15, 'here', { to: elsewhere })
    return receive<Clock>(
      (c, m) => {
        quietSince = sim.now
        sim.check(sim.faulted || sim.now <= begun + 15 || !c.timers.has('elsewhere'), 'a timer that told somebody else is still there')
        look()
        const key = sim.oneOf(['a', 'b'])
        switch (m.type) {
          case 'tick':
            ticks++
            sim.check(m.life === life, `a tick of life ${m.life} reached life ${life}`)
            sim.check(m.round === rounds.get(m.key), `a tick of round ${m.round} of ${m.key} arrived, which is at round ${String(rounds.get(m.key))}`)
            sim.check(sim.now >= (due.get(m.key) ?? 0), `a tick of ${m.key} came before its time`)
            if (m.key === 'tiny' && ++tiny === 4) c.timers.cancel('tiny')
            return same
          case 'set':
            set(key, false)
            return same
          case 'every':
            set(key, true)
            return same
          case 'tiny':
            // A period that the clock cannot tell from nothing: it ticks, and time goes on.
            if (sim.now < 1) return same
            tiny = 0
            rounds.set('tiny', (rounds.get('tiny') ?? 0) + 1)
            due.set('tiny', sim.now)
            c.timers.every('tiny', sim.oneOf([1e-20, Number.MIN_VALUE]), { type: 'tick', key: 'tiny', round: rounds.get('tiny')!, life })
            return same
          case 'cancel':
            c.timers.cancel(key)
            armed.delete(key)
            rounds.set(key, (rounds.get(key) ?? 0) + 1)
            sim.check(!c.timers.has(key), 'a cancelled timer is still there')
            return same
          case 'cancel-all':
            c.timers.cancelAll()
            armed.clear()
            for (const k of rounds.keys()) rounds.set(k, rounds.get(k)! + 1)
            return same
          case 'fail':
            throw new Error('clock')
          case 'wait':
            return sim.delay().then(() => {
              quietSince = sim.now
              return same
            })
          case 'late':
            // Replaces one whose tick may be in the mailbox, and may be lost there meanwhile.
            return sim.delay(10).then(async () => {
              if (!c.signal.aborted) set(key, false)
              await sim.delay(5)
              if (!c.signal.aborted) look()
              quietSince = sim.now
              return same
            })
          case 'silence':
            silence = sim.choose(3) === 2 ? undefined : 30
            c.setReceiveTimeout(silence ?? null)
            return same
          case 'talk':
            return same
        }
      },
      (c, s) => {
        // Set by an incarnation that is about to end: goes with it.
        if ((s.type === 'PreRestart' || s.type === 'PreStop' || s.type === 'PostStop') && sim.choose(3) === 1) set('b', sim.choose(2) === 1)
        if (s.type === 'ReceiveTimeout') {
          silences++
          sim.check(silence !== undefined, 'a receive timeout came after it was ended')
          // A handler that is made slow begins later than its message was taken.
          sim.check(sim.faulted || sim.now - quietSince >= (silence ?? 0), `a receive timeout came after ${sim.now - quietSince} ms of silence`)
          if (sim.now > 900) c.setReceiveTimeout(null)
          quietSince = sim.now
        }
        return same
      },
    )
  })
  // In a small mailbox ticks are lost, also those of timers that were replaced since.
  const small = !calm && sim.choose(4) === 3
  const mailbox = small ? { mailbox: bounded(3, 'drop-oldest') } : {}
  const ref = sim.system.spawn(clock, { name: 'clock', supervision: 'restart', stopTimeout: 30, ...mailbox })
  sim.eventually('a timer that nobody disturbed ticked', () => sim.faulted || !calm || (ticks > 0 && there === 1 && silences > 0))
  const kinds = calm ? (['talk'] as const) : (['talk', 'set', 'every', 'cancel', 'fail', 'wait', 'silence', 'cancel-all', 'tiny', 'late'] as const)
  const cancels: (() => void)[] = []
  sim.plan(sim.int(1, 18), () => {
    if (sim.choose(6) === 1) {
      armedOutside++
      const ms = sim.choose(60)
      const at = sim.now + ms
      const waiter = receive<string>((c) => {
        outside++
        sim.check(sim.now >= at, 'sendAfter came before its time')
        c.stop()
        return same
      })
      const to = sim.calmly(() => sim.system.spawn(waiter))
      const cancel = sim.system.sendAfter(to, ms, 'now')
      if (sim.choose(4) === 1) {
        cancel()
        armedOutside--
        to.stop()
      }
      cancels.push(cancel)
      return
    }
    if (small && sim.choose(3) === 1) {
      ref.tell({ type: 'late' })
      sim.after(sim.int(9, 14), () => {
        for (let left = 3; left > 0; left--) ref.tell({ type: 'talk' })
      })
    } else if (sim.choose(3) === 1) sim.after(sim.choose(40), () => ref.tell({ type: sim.oneOf(kinds) }))
    else ref.tell({ type: sim.oneOf(kinds) })
  })
  sim.after(995, () => ref.tell({ type: 'cancel-all' }))
  sim.eventually('every outside timer fired once, unless cancelled', () => outside === armedOutside)
  sim.eventually('no timer is left of those that ended', () => {
    ref.stop()
    return true
  })
}

export const timersAndRestarts: LibraryScenario = {
  name: 'timers and restarts',
  about: 'ticks of cancelled timers and of earlier incarnations never arrive',
  run,
}
