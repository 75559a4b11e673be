// The page: joins the stream, the sky and the panel, and turns what a visitor does into deeds.

import { act, follow } from './feed.js'
import { legend, meaning, show, showNodes, vitals } from './panel.js'
import { Sky } from './sky.js'

const $ = (id) => document.getElementById(id)
const sky = new Sky($('sky'))
let supervised = true
let observer = ''
let radius = 110

/** Milliseconds that what was said stays; then what one can do is there again. */
const saidFor = 12_000
let wipe
async function deed(what, more = {}) {
  const text = await act({ what, ...more })
  $('said').dataset.of = what
  $('said').textContent = text
  clearTimeout(wipe)
  wipe = setTimeout(() => ($('said').textContent = ''), saidFor)
  return text
}

void follow({
  hello(hello) {
    sky.begin(hello)
    observer = hello.observer
    radius = hello.stormRadius
    $('observer').href = observer
    $('drones').textContent = sky.drones.toLocaleString('en')
    legend(hello.phases, sky.colours)
    for (const what of ['flood', 'kill', 'hide']) document.querySelector(`[data-deed=${what}]`).hidden = hello.several
    $('down').hidden = true
  },
  rows: (view) => sky.rows(view),
  status(status) {
    supervised = status.supervised
    show(status, (path) => deed('accuse', { path }))
    if (status.nodes !== undefined) {
      showNodes(status.nodes, sky.nodeTones, (name) => deed('node', { name }))
      sky.own(status.nodes)
    }
    vitals(status, sky.fps)
  },
  lost(why) {
    $('down').hidden = false
    if (why === undefined) return
    $('down').querySelector('b').textContent = 'Who are you?'
    $('down').querySelector('span').textContent = why
  },
})

const deeds = {
  hang: () => deed('hang'),
  flood: () => deed('flood'),
  supervision: () => deed('supervision', { on: !supervised }),
  kill: () => deed('kill'),
  hide: () => deed('hide'),
}
for (const button of document.querySelectorAll('[data-deed]')) button.addEventListener('click', () => deeds[button.dataset.deed]())

function nextTheme() {
  const { dataset } = document.documentElement
  dataset.theme = sky.theme === 'dark' ? 'light' : 'dark'
  sessionStorage.setItem('airlift-theme', dataset.theme)
  repaint()
}
function repaint() {
  if (sky.world === undefined) return
  sky.paintGround()
  legend(sky.phases, sky.colours)
}
const kept = sessionStorage.getItem('airlift-theme')
if (kept !== null) document.documentElement.dataset.theme = kept
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint)
$('theme').addEventListener('click', nextTheme)

const shown = (what) => () => !document.querySelector(`[data-deed=${what}]`).hidden && deeds[what]()
const keys = {
  h: deeds.hang,
  f: shown('flood'),
  s: deeds.supervision,
  k: shown('kill'),
  g: shown('hide'),
  t: nextTheme,
  o: () => $('observer').click(),
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const key = keys[event.key.toLowerCase()] ?? nodeKey(event.key)
  if (key === undefined) return
  event.preventDefault()
  key()
})

/** The first node by 1, and so on. */
function nodeKey(key) {
  const button = /^[1-8]$/.test(key) ? document.querySelectorAll('#nodes button')[Number(key) - 1] : undefined
  return button && (() => button.click())
}

const canvas = $('sky')
let pressed
let sent = 0

function blow(at) {
  sky.storm = { ...at, radius }
  if (performance.now() - sent < 110) return
  sent = performance.now()
  void deed('storm', { x: at.x, y: at.y })
}
function strike(at, pixels) {
  const depot = sky.nearestDepot(at)
  if (depot !== undefined) return deed('charger', { district: depot })
  const drone = sky.nearest(at, pixels)
  return drone === undefined ? undefined : deed('crash', { drone })
}
canvas.addEventListener('pointerdown', (event) => {
  if (event.button !== 0 || sky.world === undefined) return
  canvas.setPointerCapture(event.pointerId)
  pressed = { x: event.clientX, y: event.clientY, dragged: false }
})
canvas.addEventListener('pointermove', (event) => {
  if (sky.world === undefined) return
  const at = sky.place(event)
  if (pressed === undefined) return explain(at)
  if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 6) pressed.dragged = true
  if (!pressed.dragged) return
  $('tip').hidden = true
  blow(at)
})
const release = (event) => {
  if (pressed !== undefined && !pressed.dragged && event.type === 'pointerup') void strike(sky.place(event), 14)
  pressed = undefined
  sky.storm = undefined
}
canvas.addEventListener('pointerup', release)
canvas.addEventListener('pointercancel', release)
canvas.addEventListener('pointerleave', () => ($('tip').hidden = true))

/** What the pointer, or the cross, is at. */
function explain(at) {
  const depot = sky.nearestDepot(at)
  const drone = depot === undefined ? sky.nearest(at, 9) : undefined
  const tip = $('tip')
  tip.hidden = depot === undefined && drone === undefined
  if (tip.hidden) return
  const { dronesEach } = sky.world
  tip.textContent =
    depot === undefined
      ? `Drone ${drone} of district ${Math.floor(drone / dronesEach)}: ${meaning(sky.phases[sky.phase[drone]])}. Click to crash it.`
      : `Depot ${depot}: its books are in the journal. Click to burn out its charger; loader and pad restart with it.`
  const { left, top } = sky.spot(at)
  const wide = canvas.clientWidth
  tip.style.left = `${Math.min(left + 16, wide - 276)}px`
  tip.style.top = `${top + 16}px`
}

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
canvas.addEventListener('focus', () => {
  if (sky.world !== undefined && canvas.matches(':focus-visible')) sky.cross ??= { x: sky.width / 2, y: sky.height / 2 }
})
canvas.addEventListener('blur', () => (sky.cross = undefined))
canvas.addEventListener('keydown', (event) => {
  if (sky.world === undefined) return
  const arrow = arrows[event.key]
  sky.cross ??= { x: sky.width / 2, y: sky.height / 2 }
  if (arrow !== undefined) {
    const step = event.shiftKey ? 80 : 16
    sky.cross.x = Math.min(sky.width, Math.max(0, sky.cross.x + arrow[0] * step))
    sky.cross.y = Math.min(sky.height, Math.max(0, sky.cross.y + arrow[1] * step))
    explain(sky.cross)
  } else if (event.key === 'Enter') void strike(sky.cross, 60)
  else if (event.key === ' ') blow({ ...sky.cross })
  else return
  event.preventDefault()
})
canvas.addEventListener('keyup', (event) => {
  if (event.key === ' ') sky.storm = undefined
})

// For whoever measures.
window.airlift = { sky }
