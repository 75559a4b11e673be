// What others may try at a port of this machine: pages of somebody else in the same browser, names that lead here, programs without the
// key. All of it is refused, says nothing of the system, and leaves the server as it was.

import { ActorSystem, receive, same } from '@troupe/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Page, servePage } from '../../src/server/page-server.ts'
import { ObservationSource } from '../../src/source/source.ts'
import { openPage, originOf, proper, raw, send, type Sent, tokenOf } from './client.ts'

let system: ActorSystem
let page: Page
beforeAll(async () => {
  system = ActorSystem.create('secret-plans', { logger: false })
  system.spawn(
    receive<unknown>(() => same),
    { name: 'vault' },
  )
  page = await openPage(system)
})
afterAll(async () => {
  await page.close()
  await system.shutdown()
})

const without = (name: string): Record<string, string> => Object.fromEntries(Object.entries(proper(page)).filter(([key]) => key !== name))
const having = (more: Record<string, string | string[]>): Record<string, string | string[]> => ({ ...proper(page), ...more })

/** What each sends, and the status that refuses it. */
const attacks: Readonly<Record<string, readonly [sent: () => Sent, status: number]>> = {
  'no token': [() => ({ headers: without('x-troupe-token') }), 401],
  'an empty token': [() => ({ headers: having({ 'x-troupe-token': '' }) }), 401],
  'a wrong token': [() => ({ headers: having({ 'x-troupe-token': 'x'.repeat(32) }) }), 401],
  'a token that is too short': [() => ({ headers: having({ 'x-troupe-token': tokenOf(page).slice(0, -1) }) }), 401],
  'a token in other case': [() => ({ headers: having({ 'x-troupe-token': swapped(tokenOf(page)) }) }), 401],
  'two tokens': [() => ({ headers: having({ 'x-troupe-token': ['guess', tokenOf(page)] }) }), 400],
  'the token in the query': [() => ({ path: `/api/letters?token=${tokenOf(page)}`, headers: without('x-troupe-token') }), 404],
  'the token in a cookie': [() => ({ headers: { ...without('x-troupe-token'), cookie: `x-troupe-token=${tokenOf(page)}` } }), 401],
  'the token as bearer': [() => ({ headers: { ...without('x-troupe-token'), authorization: `Bearer ${tokenOf(page)}` } }), 401],
  'no Host': [() => ({ headers: without('host') }), 421],
  'a foreign Host': [() => ({ headers: having({ host: 'evil.example' }) }), 421],
  'a foreign Host with our port (DNS rebinding)': [() => ({ headers: having({ host: `evil.example:${page.port}` }) }), 421],
  'a Host that begins like ours': [() => ({ headers: having({ host: `localhost.evil.example:${page.port}` }) }), 421],
  'a Host that ends like ours': [() => ({ headers: having({ host: `evillocalhost:${page.port}` }) }), 421],
  'an IP as Host': [() => ({ headers: having({ host: `127.0.0.1:${page.port}` }) }), 421],
  'an IPv6 address as Host': [() => ({ headers: having({ host: `[::1]:${page.port}` }) }), 421],
  '0.0.0.0 as Host': [() => ({ headers: having({ host: `0.0.0.0:${page.port}` }) }), 421],
  'our Host without its port': [() => ({ headers: having({ host: 'localhost' }) }), 421],
  'our Host in capitals': [() => ({ headers: having({ host: `LOCALHOST:${page.port}` }) }), 421],
  'our Host with a dot behind it': [() => ({ headers: having({ host: `localhost.:${page.port}` }) }), 421],
  'our Host behind a name and a password': [() => ({ headers: having({ host: `evil:pw@localhost:${page.port}` }) }), 421],
  'our Host with a second port': [() => ({ headers: having({ host: `localhost:${page.port}:80` }) }), 421],
  'our Host with a port that begins with 0': [() => ({ headers: having({ host: `localhost:0${page.port}` }) }), 421],
  'two Hosts in one': [() => ({ headers: having({ host: `localhost:${page.port}, evil.example` }) }), 421],
  'an IPv4 address in IPv6 as Host': [() => ({ headers: having({ host: `[::ffff:127.0.0.1]:${page.port}` }) }), 421],
  'an address as one number as Host': [() => ({ headers: having({ host: `2130706433:${page.port}` }) }), 421],
  'a foreign Host that says it was forwarded for ours': [
    () => ({ headers: having({ host: 'evil.example', 'x-forwarded-host': `localhost:${page.port}`, forwarded: `host=localhost:${page.port}` }) }),
    421,
  ],
  'a foreign Host, and ours in the line of the request': [
    () => ({ path: `http://localhost:${page.port}/api/letters`, headers: having({ host: 'evil.example' }) }),
    421,
  ],
  'the page itself by a foreign Host': [() => ({ method: 'GET', path: '/', headers: { host: 'evil.example' } }), 421],
  'no Origin': [() => ({ headers: without('origin') }), 403],
  'a foreign Origin': [() => ({ headers: having({ origin: 'https://evil.example' }) }), 403],
  'Origin null, of a sandboxed frame': [() => ({ headers: having({ origin: 'null' }) }), 403],
  'an IP as Origin': [() => ({ headers: having({ origin: `http://127.0.0.1:${page.port}` }) }), 403],
  'another port of this machine as Origin': [() => ({ headers: having({ origin: 'http://localhost:3000' }) }), 403],
  'an Origin that begins like ours': [() => ({ headers: having({ origin: `${originOf(page)}.evil.example` }) }), 403],
  'an Origin of an extension': [() => ({ headers: having({ origin: 'chrome-extension://abcdefgh' }) }), 403],
  'an Origin with a path behind it': [() => ({ headers: having({ origin: `${originOf(page)}/` }) }), 403],
  'two Origins': [() => ({ headers: having({ origin: [originOf(page), 'https://evil.example'] }) }), 400],
  'a fetch from another site': [() => ({ headers: having({ 'sec-fetch-site': 'cross-site' }) }), 403],
  'a fetch from another port': [() => ({ headers: having({ 'sec-fetch-site': 'same-site' }) }), 403],
  'a form as text/plain (simple request)': [() => ({ headers: having({ 'content-type': 'text/plain' }) }), 415],
  'a form as urlencoded': [() => ({ headers: having({ 'content-type': 'application/x-www-form-urlencoded' }) }), 415],
  'a form as multipart': [() => ({ headers: having({ 'content-type': 'multipart/form-data; boundary=x' }) }), 415],
  'no content type': [() => ({ headers: without('content-type') }), 415],
  'JSON with a second type': [() => ({ headers: having({ 'content-type': 'application/json, text/plain' }) }), 415],
  'a compressed question': [() => ({ headers: having({ 'content-encoding': 'gzip' }) }), 415],
  'a question by GET that says it is a POST': [() => ({ method: 'GET', headers: having({ 'x-http-method-override': 'POST' }) }), 405],
  'a question by GET': [() => ({ method: 'GET' }), 405],
  'a question by PUT': [() => ({ method: 'PUT' }), 405],
  'a preflight': [() => ({ method: 'OPTIONS', headers: having({ 'access-control-request-method': 'POST' }) }), 405],
  'TRACE, to have headers echoed': [() => ({ method: 'TRACE' }), 405],
  'our script read by another site': [
    () => ({ method: 'GET', path: '/page.js', headers: { host: proper(page)['host']!, 'sec-fetch-site': 'cross-site' } }),
    403,
  ],
  'our page in a frame of another site': [
    () => ({
      method: 'GET',
      path: '/',
      headers: { host: proper(page)['host']!, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    }),
    403,
  ],
  'a way up': [() => ({ method: 'GET', path: '/../package.json' }), 404],
  'a way up, escaped': [() => ({ method: 'GET', path: '/%2e%2e/%2e%2e/etc/passwd' }), 404],
  'a way up, escaped twice': [() => ({ method: 'GET', path: '/%252e%252e/%252e%252e/etc/passwd' }), 404],
  'a way up behind a file that is served': [() => ({ method: 'GET', path: '/page.js/../../package.json' }), 404],
  'a path with a zero in it': [() => ({ method: 'GET', path: '/page.js%00.html' }), 404],
  'a question under an escaped name': [() => ({ path: '/api/%6cetters' }), 404],
  'a way up with backslashes': [() => ({ method: 'GET', path: '/..\\..\\etc\\passwd' }), 404],
  'a file of the system': [() => ({ method: 'GET', path: '//etc/passwd' }), 404],
  'a source map that is not served': [() => ({ method: 'GET', path: '/page.js.map' }), 404],
  'a name that every object has': [() => ({ path: '/api/constructor' }), 404],
  '__proto__ as a path': [() => ({ path: '/api/__proto__' }), 404],
  'an endpoint that evaluates': [() => ({ path: '/api/eval', body: '{"code":"1"}' }), 404],
  'a debugger endpoint': [() => ({ path: '/json/list' }), 404],
  'a question of a megabyte': [() => ({ body: `{"x":"${'x'.repeat(1_000_000)}"}` }), 413],
  'a question that says it is huge': [() => ({ headers: having({ 'content-length': '99999999' }), body: '' }), 413],
  'a question that is no JSON': [() => ({ path: '/api/actor', body: '{' }), 400],
  'a list as question': [() => ({ path: '/api/actor', body: '[]' }), 400],
  '__proto__ as a field': [() => ({ path: '/api/actor', body: '{"__proto__":{"uid":1}}' }), 400],
  'fields that every object has': [() => ({ path: '/api/actor', body: '{"constructor":{"prototype":{"uid":1}},"hasOwnProperty":1}' }), 400],
  'a question nested as deep as it may be long': [() => ({ path: '/api/actor', body: `{"uid":${'['.repeat(8000)}${']'.repeat(8000)}}` }), 400],
  'a number that is none': [() => ({ path: '/api/actor', body: '{"uid":"1"}' }), 400],
  'a view that is none': [() => ({ path: '/api/feed', body: '{"view":"constructor"}' }), 400],
  'lines by the million': [
    () => ({ path: '/api/lines', body: '{"mode":"flat","sort":"queued","filter":"","offset":0,"count":1000000,"opened":[],"closed":[],"full":[]}' }),
    400,
  ],
  'a capsule, which has messages in it, where payloads are off': [() => ({ path: '/api/capsule', body: '{"path":"/user/vault"}' }), 403],
  'a page of nobody': [() => ({ path: '/api/own', body: '{"title":"__proto__"}' }), 400],
  'a profile of an hour': [() => ({ path: '/api/profile', body: '{"ms":3600000}' }), 400],
  'control without leave': [() => ({ path: '/api/stop', body: '{"path":"/user/vault"}' }), 403],
}

const swapped = (text: string): string => text.replaceAll(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))

test('there are at least forty of them', () => {
  expect(Object.keys(attacks).length).toBeGreaterThanOrEqual(40)
})

test.each(Object.keys(attacks))('%s is refused, and nothing is told', async (name) => {
  const [sent, status] = attacks[name]!
  const answer = await send(page, sent())
  expect(answer.status).toBe(status)
  expect(answer.body).not.toMatch(/vault|secret-plans/)
  expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
  expect(system.phase).toBe('open')
})

test('what is proper is answered, so that the refusals above are for their reasons', async () => {
  const answer = await send(page)
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.body)).toEqual({ failures: [], letters: [] })
})

test('a WebSocket of another site is not opened', async () => {
  const got = await raw(
    page,
    `GET /api/feed HTTP/1.1\r\nHost: localhost:${page.port}\r\nOrigin: https://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  expect(got).toMatch(/^HTTP\/1\.1 400/)
})

test.each([
  'uPgRaDe: WebSocket\r\nConnection: keep-alive, uPGRADE',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk',
])('no other protocol is spoken, whoever asks and however it is written: %s', async (upgrade) => {
  const head = Object.entries(proper(page)).map(([name, value]) => `${name}: ${value}\r\n`)
  // Behind it a frame that is not masked and says that it is of 2⁶³ bytes, and one that never ends.
  const frames = '\u0001\u007F\u007F\u00FF\u00FF\u00FF\u00FF\u00FF\u00FF\u00FF'
  const got = await raw(page, `GET /api/feed HTTP/1.1\r\n${head.join('')}${upgrade}\r\n\r\n${frames}`)
  expect(got).toMatch(/^HTTP\/1\.1 400/)
  expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('HTTP/2 without asking, and HTTP/0.9, are not spoken', async () => {
  expect(await raw(page, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toMatch(/^(HTTP\/1\.1 400|$)/)
  expect(await raw(page, 'GET /\r\n\r\n')).toMatch(/^(HTTP\/1\.1 4|$)/)
})

test.each([
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 6',
  'Content-Length: 4\r\nContent-Length: 5',
  'Content-Length: +4',
  'Content-Length: 0x4',
])('a body of two lengths, or of none that is sure, is no place to hide a second request: %s', async (lengths) => {
  const head = Object.entries(proper(page)).map(([name, value]) => `${name}: ${value}\r\n`)
  const got = await raw(
    page,
    `POST /api/letters HTTP/1.1\r\n${head.join('')}${lengths}\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: ${proper(page)['host']}\r\n\r\n`,
  )
  expect(got).toMatch(/^HTTP\/1\.1 400/)
  expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('a key that comes behind the question is no key', async () => {
  const head = Object.entries(without('x-troupe-token')).map(([name, value]) => `${name}: ${value}\r\n`)
  const got = await raw(
    page,
    `POST /api/letters HTTP/1.1\r\n${head.join('')}Transfer-Encoding: chunked\r\nTrailer: x-troupe-token\r\n\r\n2\r\n{}\r\n0\r\nx-troupe-token: ${tokenOf(page)}\r\n\r\n`,
  )
  expect(got).toMatch(/^HTTP\/1\.1 401/)
})

test('headers that break lines, or hide a zero, are refused', async () => {
  for (const odd of [
    `Host: localhost:${page.port}\u0000`,
    `Host: localhost:${page.port}\r\n folded`,
    `Host: localhost:${page.port}\rX: y`,
    'No colon',
  ])
    expect(await raw(page, `GET / HTTP/1.1\r\n${odd}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4/)
})

test('who opens many connections and says nothing keeps nobody else out for long, and is cut off', async () => {
  const slow = await servePage(new ObservationSource(system, { every: 1000, mute: [] }), {}, { head: 150, request: 300, check: 50 })
  const silent = Array.from({ length: 200 }, () => raw(slow, ''))
  expect((await Promise.all(silent)).every((got) => got === '' || got.startsWith('HTTP/1.1 4'))).toBe(true)
  // The limits are short: on a busy machine an honest request may be cut off too, and is answered when it is sent again.
  await vi.waitFor(async () => expect((await send(slow)).status).toBe(200), { timeout: 30_000 })
  await slow.close()
})

test('two Hosts are refused, whichever is ours', async () => {
  const { host } = proper(page)
  const both = await Promise.all(
    [`Host: ${host}\r\nHost: evil.example`, `Host: evil.example\r\nHost: ${host}`].map((h) => raw(page, `GET / HTTP/1.1\r\n${h}\r\n\r\n`)),
  )
  for (const got of both) expect(got).toMatch(/^HTTP\/1\.1 400/)
})

test('a client that sends its head or its question too slowly is cut off', async () => {
  const slow = await servePage(new ObservationSource(system, { every: 1000, mute: [] }), {}, { head: 100, request: 200, check: 50 })
  const { host } = proper(slow)
  expect(await raw(slow, `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Never`)).toMatch(/^(HTTP\/1\.1 4|$)/)
  const head = Object.entries(proper(slow)).map(([name, value]) => `${name}: ${value}\r\n`)
  expect(await raw(slow, `POST /api/letters HTTP/1.1\r\n${head.join('')}content-length: 10\r\n\r\n{`)).toMatch(/^(HTTP\/1\.1 4|$)/)
  await slow.close()
})

test('a tunnel is not opened', async () => {
  expect(await raw(page, `CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: localhost:${page.port}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/)
})

test('a head of more than 8 KB is cut off', async () => {
  const got = await raw(page, `GET / HTTP/1.1\r\nHost: localhost:${page.port}\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
  expect(got).toMatch(/^HTTP\/1\.1 4/)
})

test('two requests hidden in one are not two', async () => {
  const { host } = proper(page)
  const got = await raw(
    page,
    `POST /api/letters HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  )
  expect(got).toMatch(/^HTTP\/1\.1 400/)
  expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('who announces a body and waits to be asked for it is not asked', async () => {
  const { host } = proper(page)
  expect(await raw(page, `POST /api/letters HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 417/,
  )
})

test('bytes that are no HTTP close the connection', async () => {
  expect(await raw(page, '\u0016\u0003\u0001 hello\r\n\r\n')).toMatch(/^(HTTP\/1\.1 400|$)/)
})

test('the page comes with rules that let nothing foreign in', async () => {
  const { status, headers, body } = await send(page, { method: 'GET', path: '/', headers: { host: proper(page)['host']! } })
  expect(status).toBe(200)
  expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
  expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/)
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(headers['cache-control']).toBe('no-store')
  expect(body).not.toMatch(/<script(?![^>]*src=)|style=|onload=|secret-plans/)
})
