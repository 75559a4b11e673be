import { expect, test } from 'vitest'
import { mediumOf } from '../wire/media.ts'
import { Thread, type ThreadSettings } from './thread.ts'

test('a thread that is told to end again and again is ended once, and for the first reason', async () => {
  let ended = 0
  let exit = (_code: number): void => {}
  const settings: ThreadSettings = {
    size: 1,
    systemName: 'one',
    systemId: 1,
    askTimeout: 1000,
    hangAfter: 1000,
    spin: 0,
    byName: false,
    launch: (_data, _name, events) => {
      exit = (code) => events.exited(code)
      return {
        give: () => {},
        terminate: () => {
          ended++
          return Promise.resolve()
        },
      }
    },
  }
  const medium = mediumOf(true, 4096)
  const losses: string[] = []
  const thread = new Thread(1, 0, settings, medium, { connect: () => {}, lost: (_thread, why) => void losses.push(why) })
  for (let look = 0; look < 20; look++) thread.kill(look === 0 ? 'hung' : 'terminated')
  expect(ended).toBe(1)
  exit(1)
  await thread.gone
  expect(losses).toEqual(['hung'])
})
