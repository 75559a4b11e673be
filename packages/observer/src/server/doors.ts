// What others who joined the system tell of themselves, as parts of a page: the cluster and the journals, where there are any. What is not as it is
// expected is left out.

import type { SystemCore } from '@troupe/core/internal'
import { count, duration } from '../findings/words.ts'
import type { PagePart } from '../feed/parts.ts'
import { heard, type Known, known, list, number, text } from '../survey/joined.ts'

const ms = (value: unknown): string => (number(value) === 0 ? '–' : duration(number(value)))

/** All that is told now. */
export function partsOfOthers(core: SystemCore): PagePart[] {
  const cluster = heard(core, 'cluster', 'report')
  return [...(cluster === undefined ? [] : clusterParts(known(cluster))), ...journalParts(list(heard(core, 'persistence', 'survey')))]
}

function clusterParts(report: Known): PagePart[] {
  const nodes = list(report['nodes'])
  const held = number(report['heldFor'])
  const parts: PagePart[] = [
    {
      kind: 'table',
      title: `Nodes of ${text(report['name']) || 'the cluster'}`,
      note: held > 0 ? `this node may act for ${duration(held)} more before it renews its lease` : 'this node may not act: its lease is not held',
      columns: ['node', 'lease', 'last heard', 'shards', 'bytes that wait for it', 'channel'],
      rows: nodes.map((node) => {
        const member = known(node['member'])
        const session = known(member['session'])
        const shards = Object.entries(known(node['shards'])).map(([kind, n]) => `${number(n)} ${kind}`)
        return [
          `${text(session['node']) || text(member['node']) || 'a node'}${node['self'] === true ? ' (this one)' : ''}`,
          node['up'] === true ? '✓ up' : '◆ down',
          node['self'] === true ? '–' : ms(node['unheard']),
          shards.join(', ') || '–',
          number(node['waiting']),
          node['channel'] === undefined ? '–' : channelText(known(node['channel'])),
        ]
      }),
    },
  ]
  const kinds = list(report['kinds'])
  if (kinds.length > 0)
    parts.push({
      kind: 'table',
      title: 'Sharded actors on this node',
      columns: ['kind', 'shards', 'without an owner', 'run here', 'actors here', 'messages that wait'],
      rows: kinds.map(({ kind, shards, unowned, active, entities, waiting }) => [
        text(kind),
        number(shards),
        number(unowned),
        number(active),
        number(entities),
        number(waiting),
      ]),
    })
  return parts
}

function channelText(channel: Known): string {
  const { roundTrip, resent } = channel
  const bytes = number(channel['underWay']) + number(channel['queued'])
  return `${ms(roundTrip)} to and fro, ${count(bytes)} bytes on the way${number(resent) > 0 ? `, ${count(number(resent))} sent again` : ''}`
}

const phases: Readonly<Record<string, string>> = { open: '✓ open', opening: '▲ opening', raising: '▲ raising', lost: '◆ lost', closed: 'closed' }

function journalParts(journals: readonly Known[]): PagePart[] {
  if (journals.length === 0) return []
  return [
    {
      kind: 'table',
      title: 'Journals',
      note: 'commit times of the last 256 groups',
      columns: [
        'journal',
        'phase',
        'actors',
        'writing',
        'queued',
        'commits',
        'events',
        'failed',
        'commit p50',
        'commit p99',
        'recovering',
        'recovered',
        'circuit',
      ],
      rows: journals.map((journal) => {
        const commits = known(journal['commits'])
        const latency = known(commits['latency'])
        const recoveries = known(journal['recoveries'])
        const circuit = known(journal['circuit'])
        return [
          text(journal['name']),
          phases[text(journal['phase'])] ?? text(journal['phase']),
          number(journal['actors']),
          number(journal['writing']),
          number(journal['queued']),
          number(commits['groups']),
          number(commits['events']),
          number(commits['failed']),
          ms(latency['p50']),
          ms(latency['p99']),
          number(recoveries['waiting']) + number(recoveries['reading']),
          number(recoveries['done']),
          circuit['state'] === 'open' ? `◆ open, tried again in ${ms(circuit['retryIn'])}` : '✓ closed',
        ]
      }),
    },
    ...journals.flatMap((journal): PagePart[] => {
      const trouble = text(journal['trouble'])
      return trouble === '' ? [] : [{ kind: 'text', title: text(journal['name']), text: `The journal said: ${trouble.slice(0, 300)}`, tone: 'red' }]
    }),
  ]
}
