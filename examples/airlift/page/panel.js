// What stands beside the sky, written anew when it is told. Everything is set as text, never as markup.

const $ = (id) => document.getElementById(id)
const figure = (value) => Math.round(value).toLocaleString('en')

function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
/** Changes a text only where it is another: screen readers and selections stay. */
function set(id, text) {
  const node = $(id)
  if (node.textContent !== text) node.textContent = text
}

const words = {
  resting: 'at its depot, resting or charging',
  planning: 'waits for a route from the planning threads',
  carrying: 'carries a parcel',
  homeward: 'flies home, empty',
  restarting: 'failed; its supervisor restarts it in a moment',
  stopped: 'failed while supervision was off; stays down',
}
export const meaning = (phase) => words[phase]

export function legend(phases, colours) {
  const marks = { restarting: 'block', stopped: 'block' }
  $('legend').replaceChildren(
    ...phases.map((phase) => {
      const mark = element('i', { className: marks[phase] ?? '' })
      mark.style.background = colours[phase]
      return element('li', { title: words[phase] }, [mark, phase, element('b', { id: `count-${phase}`, textContent: '–' })])
    }),
  )
}

const columns = [
  ['handled', 'done'],
  ['failed', 'a drone that crashed at it'],
  ['dropped', 'by a bounded mailbox'],
  ['deadLettered', 'nobody lived there'],
  ['unknown', 'lost with a thread that was ended'],
  ['underWay', 'queued or in progress'],
]

export function show(status, accuse) {
  const { sum, ledger, drones, findings, lines, game } = status
  for (const name of ['sent', 'delivered', 'inFlight', 'returned', 'lost']) set(name, figure(sum[name]))
  $('lost').parentElement.classList.toggle('wrong', sum.lost !== 0)
  for (const [phase, count] of Object.entries(drones)) {
    const node = $(`count-${phase}`)
    if (node === null) continue
    node.textContent = figure(count)
    node.parentElement.classList.toggle('zero', count === 0)
  }
  showLedger(ledger)
  showFindings(findings, game, accuse)
  $('log').replaceChildren(
    ...lines.toReversed().map(({ at, text }) => element('li', { title: text, textContent: `${new Date(at).toTimeString().slice(0, 8)} ${text}` })),
  )
  const off = document.querySelector('[data-deed=supervision]')
  off.setAttribute('aria-pressed', String(!status.supervised))
  off.querySelector('b').textContent = status.supervised ? 'Supervision off' : 'Supervision on again'
  showGame(game)
}

function showLedger(ledger) {
  const { queued, stashed, inProgress, unhandled } = ledger
  const rows = { ...ledger, underWay: queued + stashed + inProgress + unhandled }
  const added = columns.reduce((total, [name]) => total + rows[name], 0)
  const names = { deadLettered: 'dead letters', underWay: 'under way' }
  $('ledger').tBodies[0].replaceChildren(
    ...columns.map(([name, why]) => row(names[name] ?? name, figure(rows[name]), why)),
    Object.assign(row('sent', figure(ledger.sent), added === ledger.sent ? '✓ adds up' : '✗ does not add up'), { className: 'total' }),
  )
}
const row = (...cells) =>
  element(
    'tr',
    {},
    cells.map((text) => element('td', { textContent: text })),
  )

function showFindings(findings, game, accuse) {
  const hunting = game.phase === 'hidden'
  const items = findings.map(({ severity, title, subject, sentence }) => {
    const mark = element('span', { className: severity, textContent: severity === 'error' ? '■' : '▲', title: severity })
    const text = element('p', {}, [element('b', { textContent: `${title} ` }), element('code', { textContent: subject }), ` ${sentence}`])
    const parts = [mark, text]
    if (hunting && /^\/user\/[^ ]+$/.test(subject))
      parts.push(element('button', { textContent: 'Accuse', onclick: () => accuse(subject), title: `Kill ${subject}` }))
    return element('li', {}, parts)
  })
  // A button under a pointer is not taken away: the list is written anew only where it says something else.
  const said = JSON.stringify([hunting, findings.map(({ id, sentence }) => id + sentence)])
  if ($('findings').dataset.said === said) return
  $('findings').dataset.said = said
  $('findings').replaceChildren(...(items.length > 0 ? items : [element('li', { className: 'none', textContent: 'Nothing needs you.' })]))
}

function showGame({ phase, ms, who, wrong }) {
  const button = document.querySelector('[data-deed=hide]')
  const seconds = Math.ceil(ms / 1000)
  const texts = {
    none: ['Find the saboteur', 'One drone holds the loop. You have 60 seconds, and what the observer says.'],
    hidden: [`Find the saboteur: ${seconds} s`, 'Who holds the loop? The findings below name it; accuse it there.'],
    found: [`Found after ${seconds} s`, `It was ${who}${wrong > 0 ? `, and ${wrong} innocent` : ''}. Play again?`],
    escaped: ['It got away', `It was ${who}. Play again?`],
  }
  const [title, sentence] = texts[phase]
  button.querySelector('b').textContent = title
  button.querySelector('small').textContent = sentence
  button.setAttribute('aria-pressed', String(phase === 'hidden'))
}

/** A row for each node: in the colour of its districts, with what it has, and a button that ends it. */
export function showNodes({ facts, owners }, tones, kill) {
  const rows = facts.map(({ name, state, pid, actors, observer }, i) => {
    const mark = element('i')
    mark.style.background = tones[i]
    const has = owners.filter((owner) => owner === name).length
    const text =
      state === 'up'
        ? `${figure(has)} districts, ${figure(actors)} actors, process ${pid}`
        : state === 'down'
          ? 'gone; the others have its districts'
          : 'starts'
    const parts = [mark, element('span', {}, [element('b', { textContent: `Node ${name} ` }), text])]
    if (state === 'up') {
      parts.push(element('a', { href: observer, target: '_blank', rel: 'noopener', textContent: 'observe', title: `The observer of node ${name}` }))
      parts.push(
        element('button', { onclick: () => kill(name), title: `kill −9 of process ${pid}. Its districts go on elsewhere.` }, [
          element('kbd', { textContent: `${i + 1}` }),
          'Kill',
        ]),
      )
    }
    return element('p', { className: state }, parts)
  })
  const said = JSON.stringify([facts, owners, tones])
  if ($('nodes').dataset.said === said) return
  $('nodes').dataset.said = said
  $('cluster').hidden = false
  $('nodes').replaceChildren(...rows)
}

export function vitals({ pid, actors, messagesPerSecond, deliveredPerSecond, restarts, loopDelay, heap }, fps) {
  set(
    'vitals',
    `process ${pid} · ${figure(actors)} actors · ${figure(messagesPerSecond)} messages/s · ${figure(deliveredPerSecond)} parcels/s · ${figure(restarts)} restarts · loop p99 ${loopDelay.toFixed(1)} ms · heap ${figure(heap / 1e6)} MB · ${fps} fps`,
  )
}
