import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { receive, same, setup } from '@troupe/core'

for (const waits of ['PreRestart', 'PostStop'] as const)
  test(`a stop while an async ${waits} of a restart is pending ends terminated once that settles`, async () => {
    const kit = createTestKit()
    const seen: string[] = []
    let go = (): void => {}
    const ref = kit.system.spawn(
      setup<string>(() =>
        receive<string>(
          () => same,
          (_ctx, signal) => {
            seen.push(signal.type)
            return signal.type === waits ? new Promise<void>((resolve) => (go = resolve)) : same
          },
        ),
      ),
    )
    await kit.settle()
    seen.length = 0
    kit.system.restart(ref)
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('stopping')
    go()
    await kit.settle()
    if (waits === 'PreRestart') {
      expect(seen).toEqual(['PreRestart', 'PreStop', 'PostStop'])
    } else expect(seen).toEqual(['PreRestart', 'PostStop'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
