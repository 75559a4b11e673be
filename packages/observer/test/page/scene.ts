// What the pictures of the guide show: a town in trouble, and where to click in each view.

import { observe } from '@troupe/observer'
import type { Page as Tab } from 'playwright-core'
import { town } from './troubled.ts'

export interface Scene {
  readonly url: string
  end(): Promise<void>
}

export async function scene(): Promise<Scene> {
  const place = town({ drones: 2000, deadlock: true, trouble: true })
  place.flood()
  let parcels = 0
  const observer = observe(place.system, {
    socket: false,
    page: {
      payloads: true,
      pages: {
        Parcels: () => [
          { kind: 'figure', title: 'Parcels delivered', value: (parcels += 40 + Math.round(Math.random() * 20)), tone: 'green' },
          { kind: 'figure', title: 'In the air', value: 200 + Math.round(Math.random() * 30) },
          { kind: 'text', text: 'Every parcel that was sent is delivered, in the air, or returned.', tone: 'green' },
          {
            kind: 'table',
            title: 'By district',
            columns: ['district', 'drones', 'delivered', 'weather'],
            rows: Array.from({ length: 6 }, (_, i) => [`district-${i}`, 200, 130 + i * 7, i === 2 ? '▲ windy' : '✓ calm']),
          },
        ],
      },
    },
  })
  const page = await observer.page
  return {
    url: page.url,
    async end() {
      await observer.close()
      await place.end()
    },
  }
}

const to =
  (hash: string): View['open'] =>
  async (tab) =>
    void (await tab.evaluate(`location.hash = '#/${hash}'`))

interface View {
  readonly name: string
  open(tab: Tab, look: string): Promise<void>
  readonly wait?: number
}

export const views: readonly View[] = [
  { name: 'overview', open: to('overview') },
  {
    name: 'actors',
    async open(tab) {
      await to('actors')(tab, '')
      await tab
        .getByRole('row', { name: /map running/ })
        .first()
        .click()
    },
    wait: 6000,
  },
  { name: 'failures', open: to('failures') },
  { name: 'waits', open: to('waits') },
  { name: 'flow', open: to('flow'), wait: 6000 },
  { name: 'traces', open: to('traces'), wait: 5000 },
  {
    name: 'runtime',
    async open(tab) {
      await to('runtime')(tab, '')
      await tab.getByRole('button', { name: /Profile/ }).click()
      await tab.locator('svg.flame').waitFor({ timeout: 20_000 })
    },
    wait: 1000,
  },
  { name: 'own', open: to('own/Parcels'), wait: 8000 },
]
