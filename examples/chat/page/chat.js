// The page: shows what the server tells, sends what the visitor says. Everything that comes from others is set as text,
// never as markup.

const $ = (id) => document.getElementById(id)
let socket
let me = ''
let here = ''
let wanted
let retry = 500

function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.textContent = text
  return made
}

const send = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message))

function show(inRoom) {
  $('join').hidden = inRoom
  $('where').hidden = !inRoom
  $('say').hidden = !inRoom
  if (!inRoom) $('talk').replaceChildren(element('li', 'note', 'Choose a name and a room, or click one on the left.'))
  ;(inRoom ? $('text') : $('name').value === '' ? $('name') : $('room')).focus()
}

function add(item) {
  const talk = $('talk')
  const atEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80
  talk.append(item)
  if (atEnd) talk.scrollTop = talk.scrollHeight
}

const note = (text) => add(element('li', 'note', text))

function said({ name, text, at }) {
  const item = element('li', name === me ? 'mine' : '', '')
  const time = new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  item.append(element('span', 'who', `${name} · ${time}`), element('span', '', text))
  add(item)
}

const people = (names) => $('people').replaceChildren(...names.map((name) => element('li', '', name)))

function rooms(list) {
  $('rooms').replaceChildren(
    ...list.map(({ name, people: count, awake }) => {
      const item = element('li', awake ? 'awake' : 'asleep', '')
      const button = element('button', name === here ? 'here' : '', '')
      button.type = 'button'
      button.append(element('span', 'name', name), element('span', 'state', awake ? String(count) : 'asleep'))
      button.addEventListener('click', () => {
        $('room').value = name
        if ($('name').value.trim() === '') $('name').focus()
        else enter()
      })
      item.append(button)
      return item
    }),
  )
  if (list.length === 0) $('rooms').replaceChildren(element('li', 'state', 'none yet: enter one'))
}

const heard = {
  entered({ room, name, history, people: names }) {
    me = name
    here = room
    $('title').textContent = room
    $('talk').replaceChildren()
    for (const one of history) said(one)
    people(names)
    note(`You are in ${room} as ${name}.`)
    document.title = `${room} · Troupe chat`
    show(true)
  },
  said,
  people({ people: names, change }) {
    people(names)
    note(`${change.name} ${change.came ? 'came in' : 'left'}.`)
  },
  rooms: ({ rooms: list }) => rooms(list),
  refused: ({ why }) => note(`Not sent: ${why}.`),
}

function enter() {
  wanted = { room: $('room').value.trim(), name: $('name').value.trim() }
  localStorage.setItem('name', wanted.name)
  send({ type: 'join', ...wanted })
}

function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`)
  socket.addEventListener('open', () => {
    retry = 500
    $('status').textContent = 'connected'
    if (wanted !== undefined) send({ type: 'join', ...wanted })
  })
  socket.addEventListener('message', ({ data }) => {
    const news = JSON.parse(data)
    heard[news.type]?.(news)
  })
  socket.addEventListener('close', () => {
    $('status').textContent = 'connection lost, trying again…'
    setTimeout(connect, retry)
    retry = Math.min(retry * 2, 10_000)
  })
}

$('join').addEventListener('submit', (event) => {
  event.preventDefault()
  enter()
})
$('say').addEventListener('submit', (event) => {
  event.preventDefault()
  const text = $('text').value.trim()
  if (text !== '') send({ type: 'say', text })
  $('text').value = ''
})
$('leave').addEventListener('click', () => {
  send({ type: 'leave' })
  wanted = undefined
  here = ''
  document.title = 'Troupe chat'
  show(false)
})

$('name').value = localStorage.getItem('name') ?? ''
$('room').value = 'green room'
show(false)
connect()
