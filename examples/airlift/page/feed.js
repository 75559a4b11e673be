// The stream from the process that flies: frames of bytes, read as they come. When it breaks it is asked for again, until somebody answers.

const token = location.hash.slice(1) || sessionStorage.getItem('airlift-token') || ''
if (location.hash !== '') {
  sessionStorage.setItem('airlift-token', token)
  history.replaceState(null, '', location.pathname)
}

const post = (path, body, signal) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', 'x-troupe-token': token }, body: JSON.stringify(body), signal })

/** Does something; what was done, in a sentence. */
export async function act(deed) {
  try {
    const answer = await post('/api/do', deed)
    return answer.ok ? (await answer.json()).said : await answer.text()
  } catch {
    return 'Nobody answers; the process is gone.'
  }
}

const kinds = ['hello', 'rows', 'status']

/** Calls `hear.hello`, `hear.rows` and `hear.status`, and `hear.lost` whenever the stream breaks. Never ends; rests while the tab is hidden. */
export async function follow(hear) {
  for (;;) {
    await visible()
    const away = new AbortController()
    const hide = () => document.hidden && away.abort()
    document.addEventListener('visibilitychange', hide)
    try {
      const answer = await post('/api/feed', {}, away.signal)
      if (answer.status === 401) return hear.lost('This page has no key. Open the URL that the terminal shows.')
      if (!answer.ok) throw new Error(await answer.text())
      await read(answer.body.getReader(), hear)
    } catch {}
    document.removeEventListener('visibilitychange', hide)
    if (!document.hidden) hear.lost()
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

function visible() {
  if (!document.hidden) return undefined
  return new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

async function read(reader, hear) {
  let rest = new Uint8Array(0)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const bytes = new Uint8Array(rest.length + value.length)
    bytes.set(rest)
    bytes.set(value, rest.length)
    const view = new DataView(bytes.buffer)
    let at = 0
    while (at + 4 <= bytes.length) {
      const length = view.getUint32(at, true)
      if (at + 4 + length > bytes.length) break
      const kind = kinds[bytes[at + 4]]
      if (kind === 'rows') hear.rows(new DataView(bytes.buffer, at + 5, length - 1))
      else hear[kind](JSON.parse(new TextDecoder().decode(bytes.subarray(at + 5, at + 4 + length))))
      at += 4 + length
    }
    rest = bytes.slice(at)
  }
}
