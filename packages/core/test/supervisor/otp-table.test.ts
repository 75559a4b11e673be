// OTP's table: restart type × exit reason × strategy. What is expected was worked out from the documentation of OTP's
// supervisor, not from our code:
//  - permanent: always restarted; transient: only if it ends abnormally, that is neither normal nor shutdown;
//    temporary: never, also when a sibling's end takes the whole group down.
//  - one_for_one restarts the one; one_for_all stops and restarts all; rest_for_one those started after it;
//    simple_one_for_one is one_for_one for instances, and one that is not restarted leaves no trace.
//  - Here the ending child is the second of three, its siblings are permanent. `dependents` is Troupe's own: the third
//    needs the second, so it goes the same way as with rest-for-one.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import {
  type ActorRef,
  type Behavior,
  child,
  type ExitReason,
  receive,
  stopped,
  supervisor,
  supervisorClient,
  type RestartType,
  setup,
  type Strategy,
  template,
} from '@troupe/core'

type Ender = 'normal' | 'failure'

/** Restarted or not, by restart type and exit reason. */
const restarted: Record<RestartType, Record<ExitReason, boolean>> = {
  permanent: { normal: true, shutdown: true, killed: true, failure: true },
  transient: { normal: false, shutdown: false, killed: true, failure: true },
  temporary: { normal: false, shutdown: false, killed: false, failure: false },
}

/** Whose incarnations begin anew when the second child is restarted. */
const group: Record<Strategy, readonly string[]> = {
  'one-for-one': ['two'],
  'simple-one-for-one': ['two'],
  'all-for-one': ['one', 'two', 'three'],
  'rest-for-one': ['two', 'three'],
  dependents: ['two', 'three'],
}

/**
 * Ends with the reason it is told. `shutdown` is how a supervisor ends that follows its significant child, so that
 * kind of child is a supervisor.
 */
function ender(name: string, starts: string[]): Behavior<Ender> {
  return setup<Ender>(() => {
    starts.push(name)
    return receive<Ender>((_ctx, how) => {
      if (how === 'failure') throw new Error('boom')
      return stopped
    })
  })
}

function shutter(name: string, starts: string[]): Behavior<never> {
  return supervisor({ autoShutdown: 'any-significant', children: [child('main', ender(name, starts), { restart: 'temporary', significant: true })] })
}

for (const strategy of Object.keys(group) as Strategy[])
  for (const restart of Object.keys(restarted) as RestartType[])
    for (const reason of Object.keys(restarted[restart]) as ExitReason[]) {
      const expected = restarted[restart][reason]
      test(`${strategy}: a ${restart} child that ended with ${reason} is ${expected ? 'restarted' : 'not restarted'}`, async () => {
        const kit = createTestKit()
        const starts: string[] = []
        const subject = reason === 'shutdown' ? shutter('two', starts) : ender('two', starts)
        const made = template((b: Behavior<never>, _name: string) => b, { restart })
        const ref = kit.system.spawn(
          strategy === 'simple-one-for-one'
            ? supervisor({ strategy, template: made })
            : supervisor({
                strategy,
                children: [
                  child('one', ender('one', starts)),
                  child('two', subject, { restart }),
                  child('three', ender('three', starts), { needs: ['two'] }),
                ],
              }),
          { name: 'sup', supervision: 'stop' },
        )
        const client = supervisorClient(ref)
        if (strategy === 'simple-one-for-one') {
          for (const [behavior, name] of [
            [ender('one', starts), 'one'],
            [subject, 'two'],
            [ender('three', starts), 'three'],
          ] as const) {
            const started = client.startChild(made.with(behavior, name))
            await kit.settle()
            await started
          }
        }
        await kit.settle()
        const asked = client.children()
        await kit.settle()
        const before = await asked
        expect(starts.splice(0)).toEqual(['one', 'two', 'three'])
        const target = before[1]!.ref as ActorRef<Ender>
        const end = reason === 'failure' && expected ? undefined : kit.system.whenTerminated(target)

        if (reason === 'killed') kit.system.kill(target)
        else if (reason === 'shutdown') (kit.system.find(`${target.path}/main`) as ActorRef<Ender>).tell('normal')
        else target.tell(reason)
        await kit.settle()

        if (end !== undefined) expect((await end).reason).toBe(reason)
        expect(starts).toEqual(expected ? group[strategy] : [])
        const listed = client.children()
        await kit.settle()
        const after = await listed
        if (expected) expect(after.map((c) => c.status)).toEqual(['running', 'running', 'running'])
        else if (restart === 'temporary' || strategy === 'simple-one-for-one')
          expect(after.map((c) => c.ref?.uid)).toEqual([before[0]!.ref!.uid, before[2]!.ref!.uid])
        else expect(after.map((c) => c.status)).toEqual(['running', 'stopped', 'running'])
        // A failure is restarted in place: the ref goes on. An end is an end: the restarted one is a new actor.
        if (expected && strategy !== 'simple-one-for-one') expect(after[1]!.ref!.uid === target.uid).toBe(reason === 'failure')
        for (const i of [0, 2]) if (strategy !== 'simple-one-for-one' && after.length === 3) expect(after[i]!.ref!.uid).toBe(before[i]!.ref!.uid)
        expect(kit.system.phaseOf(ref)).toBe('running')
        await kit.end()
      })
    }

// In a group, whoever is stopped along with the one that failed comes back unless it is temporary.
for (const strategy of ['all-for-one', 'rest-for-one', 'dependents'] as const)
  for (const restart of ['permanent', 'transient', 'temporary'] as const)
    test(`${strategy}: a ${restart} bystander ${restart === 'temporary' ? 'is stopped and not restarted' : 'is restarted'}`, async () => {
      const kit = createTestKit()
      const starts: string[] = []
      kit.system.spawn(
        supervisor({
          strategy,
          children: [child('first', ender('first', starts)), child('second', ender('second', starts), { restart, needs: ['first'] })],
        }),
        { name: 'sup' },
      )
      await kit.settle()
      ;(kit.system.find('/user/sup/first') as ActorRef<Ender>).tell('failure')
      await kit.settle()
      expect(starts.slice(2)).toEqual(restart === 'temporary' ? ['first'] : ['first', 'second'])
      expect(kit.system.find('/user/sup/second') === undefined).toBe(restart === 'temporary')
      await kit.end()
    })
