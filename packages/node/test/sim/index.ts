// The scenarios of the border between threads, simulated as those of one system are: by `npm run sim`, by tests and by the
// mutation proof.

import { bounded, unbounded } from '@troupe/core'
import type { LibraryScenario } from '@troupe/testkit/internal'
import { any, circleFor, handedOn, noteFor, pick, queryFor, restless, small, spread, stage, strike, times } from './stage.ts'

export const library: readonly LibraryScenario[] = [
  {
    name: 'border traffic',
    about: 'messages among members on several threads, in order and counted at every instant',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true })
      spread(sim, sim.int(1, 24), () => world.tell('main', pick(world), noteFor(world)))
    },
  },
  {
    name: 'border floods',
    about: 'more messages than credits, than mailboxes and than rings have room for',
    options: times,
    run: (sim) => {
      const world = stage(sim, { members: 3, mailboxes: [...small, unbounded()], ringBytes: [512, 1024, 4096] })
      spread(sim, sim.int(1, 10), () => {
        const to = pick(world)
        for (let i = sim.int(1, 30); i > 0; i--) world.tell('main', to, sim.choose(6) === 5 ? noteFor(world) : { do: 'nothing' })
      })
    },
  },
  {
    name: 'border refs',
    about: 'links that are closed while messages are under way, as when a ref is collected, and opened again by the next message',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, mailboxes: any, ringBytes: [512, 1024, 4096], supervision: ['restart', 'stop'] })
      spread(sim, sim.int(2, 24), () => {
        switch (sim.choose(6)) {
          case 1:
          case 2:
            return world.closeLinks()
          case 3:
            return sim.choose(3) === 2 ? pick(world).stop() : world.tell('main', pick(world), { do: 'watch', ref: pick(world) })
          case 4:
            return void world.ask(undefined, pick(world), queryFor(world, 2), sim.oneOf([200, 60])).catch(() => {})
          default:
            return world.tell('main', pick(world), { do: 'tell', to: pick(world), times: sim.int(1, 12) })
        }
      })
    },
  },
  {
    name: 'border questions',
    about: 'questions across threads: answered late, twice, never, handed on, by the dying',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, mailboxes: any, supervision: ['restart', 'resume', 'stop'] })
      spread(sim, sim.int(1, 14), () => {
        const to = pick(world)
        if (sim.choose(8) === 7) return world.tell('main', to, { do: 'stop' })
        world.ask(undefined, to, queryFor(world, 2), sim.oneOf([200, 20, 60])).catch(() => {})
        return undefined
      })
    },
  },
  {
    name: 'border lives',
    about: 'members on threads are stopped, killed, restarted, suspended and watched, and have children on other threads',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, mailboxes: any, supervision: ['restart', 'stop', 'resume'] })
      spread(sim, sim.int(1, 16), (i) => {
        const ref = pick(world)
        switch (sim.choose(9)) {
          case 1:
            return ref.stop()
          case 2:
            return sim.system.kill(ref)
          case 3:
            return world.restart(ref)
          case 4:
            sim.system.suspend(ref, 'a pause')
            return sim.after(sim.oneOf([5, 30]), () => sim.system.resume(ref))
          case 5:
            return world.tell('main', ref, { do: 'spawn', name: `c${i}`, on: sim.oneOf([undefined, 'parallel', 'pinned']) })
          case 6:
            return world.tell('main', ref, { do: 'throw' })
          default:
            return world.tell('main', ref, noteFor(world))
        }
      })
    },
  },
  {
    name: 'border losses',
    about: 'threads that crash, hang for a while or for good, and are replaced',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, mailboxes: any, supervision: ['restart', 'stop'] })
      spread(sim, sim.int(1, 16), () => {
        switch (sim.choose(8)) {
          case 5:
            return world.crash()
          case 6:
            return world.hang(sim.oneOf([10, 50, 1000]))
          case 7:
            return void world.ask(undefined, pick(world), queryFor(world, 2), sim.oneOf([200, 60])).catch(() => {})
          default:
            return world.tell('main', pick(world), noteFor(world))
        }
      })
    },
  },
  {
    name: 'border deadlines',
    about: 'questions for the sake of others that have less time, in mailboxes of any kind',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, mailboxes: any })
      spread(sim, sim.int(1, 8), () => {
        const act = { do: 'ask', to: pick(world), timeout: 150, act: { do: 'keep' }, wait: true } as const
        world.ask(undefined, pick(world), sim.choose(3) === 2 ? queryFor(world, 1) : act, sim.oneOf([20, 60])).catch(() => {})
      })
    },
  },
  {
    name: 'border circles',
    about: 'actors of several threads that wait for each other: circles are broken, and nothing else is',
    options: times,
    run: (sim) => {
      const world = stage(sim, { mixed: true, ...(sim.choose(3) === 2 ? { mailboxes: [bounded(8, 'drop-newest')] } : undefined) })
      spread(sim, sim.int(1, 8), () => void world.ask(undefined, pick(world), circleFor(world, 3), 650).catch(() => {}))
      sim.after(500, () => {
        const [circle] = world.circles
        if (circle !== undefined) sim.violate('C9', `question ${circle.id} is one of a circle that nobody has broken`)
      })
    },
  },
  {
    name: 'border restarts',
    about:
      'restarts that are held for their backoff, asked for, cleared, suspended and cut short, while threads crash, hang and end with their actor',
    options: times,
    run: (sim) => {
      const world = stage(sim, { members: 3, mailboxes: any, supervision: restless, oneClearsIn: 2, onePinnedIn: 3 })
      spread(sim, sim.int(2, 16), () => {
        const ref = pick(world)
        switch (sim.choose(9)) {
          case 1:
          case 2:
            // What comes behind a failure is there when the mailbox is cleared.
            for (let i = sim.int(0, 3); i > 0; i--) world.tell('main', ref, { do: 'wait' })
            world.tell('main', ref, { do: 'throw' })
            for (let i = sim.int(1, 6); i > 0; i--) world.tell('main', ref, { do: 'nothing' })
            return undefined
          case 3:
            return world.restart(ref)
          case 4:
            sim.system.suspend(ref, 'a pause')
            return sim.after(sim.oneOf([1, 30]), () => sim.system.resume(ref))
          case 5:
            return world.crash()
          case 6:
            return world.hang(sim.oneOf([10, 50, 1000]))
          case 7:
            return sim.choose(3) === 2 ? ref.stop() : world.tell('main', ref, { do: 'throw' })
          case 8:
            return void world.ask(undefined, ref, { do: 'throw' }, 200).catch(() => {})
          default:
            return world.tell('main', ref, noteFor(world))
        }
      })
    },
  },
  {
    name: 'border handing on',
    about: 'actors on threads of their own hand questions on and stop, while those who get them move, fail and stop as well',
    options: times,
    run: (sim) => {
      const world = stage(sim, { members: 4, mixed: true, supervision: restless, onePinnedIn: 2 })
      spread(sim, sim.int(2, 12), () => {
        const ref = pick(world)
        switch (sim.choose(8)) {
          case 4:
            return world.restart(ref)
          case 5:
            return world.tell('main', ref, { do: 'throw' })
          case 6:
            return world.crash()
          case 7:
            return sim.choose(2) === 1 ? ref.stop() : world.tell('main', ref, { do: 'stop' })
          default:
            return void world.ask(undefined, ref, handedOn(world, 3), sim.oneOf([200, 60])).catch(() => {})
        }
      })
    },
  },
  {
    name: 'border blows',
    about: 'several things befall one actor within moments: it fails, starts in vain, is told to restart, suspend, stop, and its thread goes',
    options: times,
    run: (sim) => {
      const world = stage(sim, { members: 3, mixed: true, mailboxes: any, supervision: restless, oneClearsIn: 4, onePinnedIn: 2 })
      spread(sim, sim.int(1, 6), () => {
        const ref = pick(world)
        for (let blows = sim.int(2, 4); blows > 0; blows--) {
          const ms = sim.oneOf([0, 1, 2, 5])
          if (ms === 0) strike(world, ref)
          else sim.after(ms, () => strike(world, ref))
        }
      })
    },
  },
  {
    name: 'border crowds',
    about: 'what befalls many actors at once is more than the rings have room for: questions, restarts, suspensions, ends, and threads that go',
    options: times,
    run: (sim) => {
      const world = stage(sim, { members: 12, supervision: restless, oneClearsIn: 8, onePinnedIn: 12, ringBytes: [128, 256] })
      spread(sim, sim.int(1, 4), () => {
        const blow = sim.choose(7)
        const asks = sim.int(2, 8)
        for (const ref of world.refs) {
          if (blow === 0) for (let i = asks; i > 0; i--) world.ask(undefined, ref, { do: 'answer' }, 900).catch(() => {})
          else if (blow === 1) world.tell('main', ref, { do: 'throw' })
          else if (blow === 2) world.restart(ref)
          else if (blow === 3) sim.system.suspend(ref, 'a pause')
          else if (blow === 4) world.tell('main', ref, { do: 'watch', ref: pick(world) })
          else if (blow === 5) world.tell('main', ref, { do: 'fail to start', times: 1 })
          else if (sim.choose(4) === 3) ref.stop()
        }
        if (blow === 3) sim.after(sim.oneOf([1, 5, 30]), () => world.refs.forEach((ref) => sim.system.resume(ref)))
        if (sim.choose(6) === 5) world.crash()
      })
    },
  },
]
