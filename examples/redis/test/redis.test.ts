import { spawnSync } from 'node:child_process'
import { encodeRespRequest, type RespReply } from '@troupe/node'
import { expect, test } from 'vitest'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Store } from '../src/store.ts'
import { Client, withServer } from './client.ts'

const words = (line: string): string[] => line.split(' ')

/** Each line is a command and its reply. */
async function talk(client: Client, dialogue: readonly (readonly [string, RespReply | RegExp])[]): Promise<void> {
  for (const [line, expected] of dialogue) {
    const reply = await client.call(...words(line))
    if (expected instanceof RegExp)
      expect({ line, error: (reply as { error: string }).error }).toEqual({ line, error: expect.stringMatching(expected) as string })
    else expect({ line, reply }).toEqual({ line, reply: expected })
  }
}

test('strings and counters answer as Redis does', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await talk(client, [
      ['PING', 'PONG'],
      ['ping hello', 'hello'],
      ['ECHO hi', 'hi'],
      ['GET a', null],
      ['SET a 1', 'OK'],
      ['SET a 2 NX', null],
      ['SET b 2 XX', null],
      ['SET a 3 XX', 'OK'],
      ['SET a 4 NX XX', /syntax error/],
      ['SET a 4 EX 0', /invalid expire time/],
      ['SET a 4 EX x', /not an integer/],
      ['SET a 4 PX', /syntax error/],
      ['GET a', '3'],
      ['INCR a', 4],
      ['INCRBY a 6', 10],
      ['DECR a', 9],
      ['DECRBY a 9', 0],
      ['SET big 9223372036854775806', 'OK'],
      ['INCR big', 2 ** 63],
      ['INCR big', /overflow/],
      ['SET word x', 'OK'],
      ['INCR word', /not an integer/],
      ['INCRBY a 1.5', /not an integer/],
      ['MSET a 1 b 2', 'OK'],
      ['MSET a 1 b', /wrong number/],
      ['MGET a b c', ['1', '2', null]],
      ['EXISTS a b c a', 3],
      ['DEL a b c', 2],
      ['GET', /wrong number of arguments for 'get'/],
      ['NOSUCH thing', /unknown command 'NOSUCH', with args beginning with: 'thing'/],
    ])
  }))

test('lists, hashes and sets answer as Redis does, and refuse the wrong kind', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await talk(client, [
      ['RPUSH l a b c', 3],
      ['LPUSH l z', 4],
      ['LRANGE l 0 -1', ['z', 'a', 'b', 'c']],
      ['LRANGE l -2 100', ['b', 'c']],
      ['LRANGE l 5 9', []],
      ['LPOP l', 'z'],
      ['RPOP l', 'c'],
      ['LPOP l 5', ['a', 'b']],
      ['EXISTS l', 0],
      ['LPOP l', null],
      ['LPOP l 1', null],
      ['LLEN l', 0],
      ['HSET h f 1 g 2', 2],
      ['HSET h f 3', 0],
      ['HGET h f', '3'],
      ['HGET h none', null],
      ['HGETALL h', ['f', '3', 'g', '2']],
      ['HDEL h f g x', 2],
      ['EXISTS h', 0],
      ['SADD s a b a', 2],
      ['SISMEMBER s a', 1],
      ['SISMEMBER s c', 0],
      ['SMEMBERS s', ['a', 'b']],
      ['SREM s a c', 1],
      ['TYPE s', 'set'],
      ['GET s', /WRONGTYPE/],
      ['LPUSH s x', /WRONGTYPE/],
      ['HSET s f v', /WRONGTYPE/],
      ['MGET s', [null]],
    ])
  }))

test('a list keeps its order when it grows from both ends', () =>
  withServer(async (port) => {
    const client = new Client(port)
    const expected: string[] = []
    for (let i = 0; i < 40; i++) {
      await client.call(i % 3 === 0 ? 'LPUSH' : 'RPUSH', 'l', String(i))
      if (i % 3 === 0) expected.unshift(String(i))
      else expected.push(String(i))
    }
    expect(await client.call('LRANGE', 'l', '0', '-1')).toEqual(expected)
  }))

test('keys expire, and keep or lose their expiry as Redis has it', () =>
  withServer(async (port, { advance }) => {
    const client = new Client(port)
    await talk(client, [
      ['SET a 1 EX 10', 'OK'],
      ['SET b 1 PX 500', 'OK'],
      ['TTL a', 10],
      ['PTTL b', 500],
      ['TTL none', -2],
      ['SET c 1', 'OK'],
      ['TTL c', -1],
      ['EXPIRE c 20', 1],
      ['EXPIRE none 20', 0],
      ['INCR a', 2],
      ['TTL a', 10],
    ])
    advance(1000)
    await talk(client, [
      ['GET b', null],
      ['TTL a', 9],
      ['PERSIST a', 1],
      ['TTL a', -1],
      ['SET a 2 EX 1', 'OK'],
      ['SET a 3', 'OK'],
      ['TTL a', -1],
      ['EXPIRE a -1', 1],
      ['GET a', null],
    ])
  }))

test('KEYS and SCAN find by pattern, page by page, and databases are apart', () =>
  withServer(async (port) => {
    const client = new Client(port)
    for (let i = 0; i < 25; i++) await client.call('SET', `key:${i}`, 'v')
    await client.call('SADD', 'other', 'x')
    expect(await client.call('KEYS', 'key:2?')).toEqual(['key:20', 'key:21', 'key:22', 'key:23', 'key:24'])
    expect(await client.call('KEYS', 'key:[1-2]')).toEqual(['key:1', 'key:2'])
    expect(await client.call('KEYS', '*the*')).toEqual(['other'])
    const seen: RespReply[] = []
    let cursor = '0'
    do {
      const [next, page] = (await client.call('SCAN', cursor, 'MATCH', 'key:*', 'COUNT', '7')) as [string, RespReply[]]
      seen.push(...page)
      cursor = next
    } while (cursor !== '0')
    expect(new Set(seen).size).toBe(25)
    await talk(client, [
      ['DBSIZE', 26],
      ['SELECT 1', 'OK'],
      ['DBSIZE', 0],
      ['SET only here', 'OK'],
      ['SELECT 16', /out of range/],
      ['SELECT 0', 'OK'],
      ['EXISTS only', 0],
      ['FLUSHALL', 'OK'],
      ['DBSIZE', 0],
      ['SELECT 1', 'OK'],
      ['DBSIZE', 0],
    ])
  }))

test('MULTI runs its commands together, answers them as one, and a refused one spoils them all', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await talk(client, [
      ['MULTI', 'OK'],
      ['SET a 1', 'QUEUED'],
      ['INCR a', 'QUEUED'],
      ['LPUSH a x', 'QUEUED'],
      ['GET a', 'QUEUED'],
    ])
    const other = new Client(port)
    expect(await other.call('GET', 'a')).toBeNull()
    expect(await client.call('EXEC')).toEqual(['OK', 2, { error: expect.stringMatching(/WRONGTYPE/) as string }, '2'])
    await talk(client, [
      ['EXEC', /EXEC without MULTI/],
      ['MULTI', 'OK'],
      ['MULTI', /can not be nested/],
      ['SET a 5', 'QUEUED'],
      ['DISCARD', 'OK'],
      ['GET a', '2'],
      ['MULTI', 'OK'],
      ['NOSUCH', /unknown command/],
      ['SET a 9', 'QUEUED'],
      ['EXEC', /EXECABORT/],
      ['GET a', '2'],
    ])
  }))

test('SUBSCRIBE hears what is published, by name and by pattern, until UNSUBSCRIBE', () =>
  withServer(async (port) => {
    const listener = new Client(port)
    const speaker = new Client(port)
    expect(await listener.call('SUBSCRIBE', 'news')).toEqual(['subscribe', 'news', 1])
    expect(await listener.call('PSUBSCRIBE', 'n*')).toEqual(['psubscribe', 'n*', 2])
    expect(await speaker.call('PUBLISH', 'news', 'hello')).toBe(2)
    expect(await listener.next()).toEqual(['message', 'news', 'hello'])
    expect(await listener.next()).toEqual(['pmessage', 'n*', 'news', 'hello'])
    expect(await listener.call('GET', 'a')).toEqual({ error: expect.stringMatching(/only .*SUBSCRIBE/) as string })
    expect(await listener.call('PING')).toEqual(['pong', ''])
    expect(await listener.call('PUNSUBSCRIBE')).toEqual(['punsubscribe', 'n*', 1])
    expect(await listener.call('UNSUBSCRIBE', 'news')).toEqual(['unsubscribe', 'news', 0])
    expect(await speaker.call('PUBLISH', 'news', 'nobody')).toBe(0)
    expect(await listener.call('GET', 'a')).toBeNull()
    await listener.call('SUBSCRIBE', 'news')
    listener.socket.destroy()
    await listener.closed()
    for (;;) if ((await speaker.call('PUBLISH', 'news', 'gone')) === 0) break
  }))

test('a pipeline of ten thousand mixed commands is answered in order', () =>
  withServer(async (port) => {
    const client = new Client(port)
    const count = 10_000
    const parts: Buffer[] = []
    for (let i = 0; i < count; i++) {
      const kind = i % 5
      const command =
        kind === 0
          ? ['SET', 'k', String(i)]
          : kind === 1
            ? ['GET', 'k']
            : kind === 2
              ? ['PING', String(i)]
              : kind === 3
                ? ['CLIENT', 'GETNAME']
                : ['PUBLISH', 'c', 'm']
      parts.push(encodeRespRequest(command))
    }
    client.socket.write(Buffer.concat(parts))
    for (let i = 0; i < count; i++) {
      const kind = i % 5
      expect(await client.next()).toEqual(kind === 0 ? 'OK' : kind === 1 ? String(i - 1) : kind === 2 ? String(i) : kind === 3 ? '' : 0)
    }
  }))

test('any bytes are kept, as keys and as values', () =>
  withServer(async (port) => {
    const client = new Client(port)
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    client.socket.write(encodeRespRequest(['SET', bytes, bytes]))
    expect(await client.next()).toBe('OK')
    client.socket.write(encodeRespRequest(['GET', bytes]))
    expect(await client.next()).toBe(bytes.toString('latin1'))
  }))

test('INFO, CLIENT, CONFIG and COMMAND tell of the server', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await client.call('SET', 'a', '1')
    expect(await client.call('CLIENT', 'SETNAME', 'me')).toBe('OK')
    expect(await client.call('CLIENT', 'GETNAME')).toBe('me')
    expect(await client.call('CLIENT', 'LIST')).toMatch(/^id=1 addr=127\.0\.0\.1:\d+ name=me\n$/)
    const info = (await client.call('INFO')) as string
    expect(info).toContain('connected_clients:1')
    expect(info).toContain('db0:keys=1,expires=0')
    expect(await client.call('INFO', 'clients')).not.toContain('# Server')
    expect(await client.call('CONFIG', 'GET', 'databases')).toEqual(['databases', '16'])
    expect(await client.call('COMMAND', 'COUNT')).toBeGreaterThan(40)
    expect(await client.call('QUIT')).toBe('OK')
    await client.closed()
  }))

test('a crash of one connection harms no other', () =>
  withServer(async (port) => {
    const victim = new Client(port)
    const bystander = new Client(port)
    expect(await bystander.call('SET', 'a', '1')).toBe('OK')
    await victim.call('PING')
    victim.socket.write(encodeRespRequest(['DEBUG', 'PANIC']))
    await victim.closed()
    expect(await bystander.call('GET', 'a')).toBe('1')
    expect(await new Client(port).call('GET', 'a')).toBe('1')
  }))

test.each([
  ['a huge array', '*99999999\r\n', 'invalid multibulk length'],
  ['a huge bulk', '*1\r\n$999999999\r\n', 'invalid bulk length'],
  ['a negative bulk', '*1\r\n$-5\r\n', 'invalid bulk length'],
  ['the wrong mark', '*1\r\n!3\r\nfoo\r\n', "expected '$', got '!'"],
  ['a bulk that lies', '*1\r\n$3\r\nfoobar\r\n', 'does not end where it said'],
  ['an open quote', 'SET "a\r\n', 'unbalanced quotes in request'],
  ['an endless line', 'x'.repeat(70_000), 'too big inline request'],
])('hostile input, %s: the protocol error and a closed connection', (_what, input, problem) =>
  withServer(async (port) => {
    const client = new Client(port)
    expect(await client.call('PING')).toBe('PONG')
    client.socket.write(input)
    const { error } = (await client.next()) as { error: string }
    expect(error).toMatch(/^ERR Protocol error: /)
    expect(error).toContain(problem)
    await client.closed()
  }),
)

test('what came before a broken frame in the same chunk is still answered', () =>
  withServer(async (port) => {
    const client = new Client(port)
    client.socket.write(Buffer.concat([encodeRespRequest(['SET', 'a', '1']), Buffer.from('*1\r\n!')]))
    expect(await client.next()).toBe('OK')
    client.socket.write('\r\n')
    expect(await client.next()).toEqual({ error: expect.stringMatching(/Protocol error: expected '\$'/) as string })
    await client.closed()
  }))

test('inline commands and half frames work', () =>
  withServer(async (port) => {
    const client = new Client(port)
    client.socket.write('set k "two words"\r\n')
    expect(await client.next()).toBe('OK')
    for (const byte of encodeRespRequest(['GET', 'k'])) client.socket.write(Buffer.from([byte]))
    expect(await client.next()).toBe('two words')
  }))

test('a subscriber that does not read is disconnected at its bound, and nobody else notices', () =>
  withServer(
    async (port) => {
      const slow = new Client(port)
      await slow.call('SUBSCRIBE', 'flood')
      slow.socket.pause()
      const speaker = new Client(port)
      const message = 'x'.repeat(100_000)
      for (let i = 0; i < 500; i++) if ((await speaker.call('PUBLISH', 'flood', message)) === 0) break
      expect(await speaker.call('PUBLISH', 'flood', message)).toBe(0)
      slow.socket.destroy()
    },
    { maxBuffered: 1024 * 1024 },
  ))

test('a client that sends without reading is not read from either, and loses nothing', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await client.call('PING')
    client.socket.pause()
    const payload = 'x'.repeat(10_000)
    const count = 5000
    for (let i = 0; i < count; i++) client.socket.write(encodeRespRequest(['ECHO', payload]))
    let before = -1
    while (client.socket.writableLength !== before) {
      before = client.socket.writableLength
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(before).toBeGreaterThan(10_000_000)
    client.socket.resume()
    for (let i = 0; i < count; i++) expect(await client.next()).toBe(payload)
  }))

test('keys that nobody looks at are swept away', () => {
  let now = 0
  const store = new Store(() => now)
  for (let i = 0; i < 10; i++) {
    store.set(`k${i}`, 'v')
    store.expire(`k${i}`, i < 5 ? 100 : 1000)
  }
  now = 500
  store.sweep(100)
  expect(store.size).toBe(5)
})

const cli = engineOrSkip(
  'redis-cli',
  () => (spawnSync('redis-cli', ['--version']).status === 0 ? 'redis-cli' : undefined),
  'Install redis-tools (apt-get install redis-tools).',
)

test.skipIf(cli === undefined)('redis-cli and redis-benchmark, which nobody here wrote, are content', () =>
  withServer(async (port) => {
    const { execFile } = await import('node:child_process')
    const { promisify } = await import('node:util')
    const run = promisify(execFile)
    const { stdout } = await run('redis-cli', ['-p', String(port), 'EVALSHA'], {}).catch((cause: { stdout: string }) => cause)
    expect(stdout).toMatch(/unknown command/)
    expect((await run('redis-cli', ['-p', String(port), 'SET', 'x', 'y'])).stdout).toBe('OK\n')
    const tests = 'ping,set,get,incr,lpush,lpop,sadd,hset,mset'
    for (const pipeline of ['1', '16']) {
      const result = await run('redis-benchmark', ['-p', String(port), '-t', tests, '-n', '1000', '-c', '50', '-P', pipeline, '--csv'])
      expect(result.stderr).not.toMatch(/error/i)
      expect(result.stdout.trim().split('\n').length).toBe(11)
    }
  }),
)
