// The actor of every scenario: it does what its messages say, on whatever place it is, and tells the world what it sees.

import { ActorError, type ActorRef, type Behavior, receive, same, setup, stopped, unhandled } from '@troupe/core'
import type { Act, Note, Query, Told } from './acts.ts'
import type { Life, World } from './world.ts'

type Next = Behavior<Told> | typeof same

/** An actor that may live anywhere. */
export function memberOf(world: World): (id: number) => Behavior<Told> {
  const define = world.threads.define('member', (_id: number) =>
    setup<Told>((ctx) => {
      const life = world.born(ctx.self, ctx.system.name)
      if (world.beginnings.fails(life.uid)) throw new Error('no start')
      const kept: { readonly id: number; readonly replyTo: ActorRef<string> }[] = []
      const told = (act: Act, message: Told): Next | Promise<Next> => {
        switch (act.do) {
          case 'fail to start':
            world.beginnings.failNext(life.uid, act.times)
            throw new Error('and it will not start')
          case 'end':
            act.ref.stop()
            return same
          case 'throw':
            throw new ActorError('boom', {
              labels: { of: 'a member', no: String(world.beginnings.failures) },
              cause: new Error('what was behind it'),
            })
          case 'wait':
            return world.pause(life, world.sim.oneOf([0, 1, 5])).then(() => same as Next)
          case 'stash':
            world.stashed.add(keyOf(life, message as Note))
            ctx.stash.add(message)
            return same
          case 'unstash':
            ctx.stash.unstashAll()
            return same
          case 'stop':
            return stopped
          case 'tell':
            for (let i = 0; i < act.times; i++) world.tell(`${life.uid}/${world.lives.indexOf(life)}`, act.to, { do: 'nothing' })
            return same
          case 'watch':
            if (!life.watching.has(act.ref.uid)) {
              life.watching.set(act.ref.uid, 0)
              ctx.watch(act.ref)
            }
            return same
          case 'unwatch':
            ctx.unwatch(act.ref)
            life.watching.delete(act.ref.uid)
            return same
          case 'spawn': {
            const child = define(1000 + world.lives.length)
            ctx.spawn(child, { name: `${act.name}-${world.lives.length}`, ...(act.on === undefined ? undefined : { dispatcher: act.on }) })
            return same
          }
          case 'ask':
            return asked(act, message)
          case 'unhandled':
            return unhandled
          case 'forward':
            return handedOn(act, message)
          case 'keep':
            if (message.type === 'query') {
              kept.push(message)
              world.keeps(message)
            }
            return same
          default:
            return answered(act, message)
        }
      }
      const answered = (act: Act, message: Told): Next | Promise<Next> => {
        for (const { id, replyTo } of kept.splice(0)) replyTo.tell(`answer to ${id}`)
        if (message.type !== 'query') return same
        const answer = (): Next => {
          message.replyTo.tell(`answer to ${message.id}`)
          return same
        }
        if (act.do === 'answer later') return world.pause(life, world.sim.oneOf([0, 2, 10])).then(answer)
        if (act.do === 'answer twice') answer()
        return answer()
      }
      const asked = (act: Act & { readonly do: 'ask' }, message: Told): Next | Promise<Next> => {
        const { to, timeout, wait } = act
        const question = world.ask(life, to, act.act, timeout, message)
        if (!wait) {
          question.catch(() => {})
          return same
        }
        life.waitsFor = world.questions.size
        const done = (): Next | Promise<Next> => {
          life.waitsFor = undefined
          return answered({ do: 'answer' }, message)
        }
        return question.then(done, done)
      }
      const handedOn = (outer: Act, message: Told): Next | Promise<Next> => {
        // Handed on, it is still the same message: whoever has it next does what is inside.
        const { id } = message as Query
        let hops = passed.get(id) ?? 0
        let act = outer
        for (let hop = hops; hop > 0 && act.do === 'forward'; hop--) act = act.act
        for (; act.do === 'forward' && (message.type !== 'query' || act.to.uid === life.uid); hops++) act = act.act
        if (act.do !== 'forward') return told(act, message)
        passed.set(id, hops + 1)
        const question = world.questions.get(id)
        if (question !== undefined) question.holder = act.to.uid
        ctx.forward(act.to)
        return act.after === 'stop' ? stopped : same
      }
      return receive<Told>(
        (_ctx, message) => {
          world.begins(life, message)
          let next: Next | Promise<Next>
          try {
            next = told(message.act, message)
          } catch (cause) {
            world.ends(life)
            world.beginnings.hasReason(life.uid)
            throw cause
          }
          if (!(next instanceof Promise)) {
            world.ends(life)
            return next
          }
          return next.finally(() => world.ends(life))
        },
        (_ctx, signal) => {
          world.signalled(life, signal)
          return undefined
        },
      )
    }),
  )
  /** How often a question was handed on. */
  const passed = new Map<number, number>()
  return define
}

function keyOf(life: Life, { from, n }: Note): string {
  return `${from}→${life.uid}#${n}`
}
