// The web server: the page, and a WebSocket for each visitor.

import { readFileSync } from 'node:fs'
import { type Endpoint, http, type HttpCommand, type HttpEvent } from '@troupe/node'
import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import { lobby, type LobbyOptions } from './lobby.ts'
import { visitor } from './visitor.ts'

export interface ChatOptions extends LobbyOptions {
  readonly port: number
  readonly host?: string | undefined
}

export type Chat = HttpEvent | { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }

const asset = (name: string, type: string): { readonly body: Buffer; readonly type: string } => ({
  body: readFileSync(new URL(`../page/${name}`, import.meta.url)),
  type: `${type}; charset=utf-8`,
})

/** A browser sends where its page came from; another site's page has no business here. */
function sameSite({ headers }: { readonly headers: { readonly origin?: string | undefined; readonly host?: string | undefined } }): boolean {
  return headers.origin === undefined || (URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host)
}

export function chat(options: ChatOptions): Behavior<Chat> {
  const pages = new Map([
    ['/', asset('index.html', 'text/html')],
    ['/chat.css', asset('chat.css', 'text/css')],
    ['/chat.js', asset('chat.js', 'text/javascript')],
  ])
  const { port, host, ...rest } = options
  return setup((ctx) => {
    const rooms = ctx.spawn(lobby(rest), { name: 'lobby' })
    const server: ActorRef<HttpCommand> = ctx.spawn(
      http.serve({ port, host, owner: ctx.self, websocket: { path: '/ws', handler: visitor(rooms), maxMessage: 16_384, accept: sameSite } }),
      { name: 'web' },
    )
    return receive<Chat>((c, m) => {
      switch (m.type) {
        case 'address':
          c.forward(server)
          return same
        case 'request': {
          const page = pages.get(m.path)
          const answer = (status: number, body: Buffer | string, type: string): void =>
            m.exchange.tell({
              type: 'respond',
              status,
              body,
              headers: {
                'content-type': type,
                'content-security-policy': "default-src 'self'; img-src 'self' data:",
                'x-content-type-options': 'nosniff',
              },
            })
          if (page === undefined) answer(404, 'There is no such page.\n', 'text/plain')
          else if (m.method !== 'GET' && m.method !== 'HEAD') answer(405, 'Only GET.\n', 'text/plain')
          else answer(200, page.body, page.type)
          return same
        }
        case 'listen-error':
          throw m.error
        default:
          return same
      }
    })
  })
}
