// The register of connections, for INFO and CLIENT LIST.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'

export interface ClientFacts {
  readonly id: number
  readonly address: string
  readonly name: string
}

export interface ClientsReport {
  readonly clients: readonly ClientFacts[]
  readonly accepted: number
}

export type Clients =
  | { readonly type: 'joined'; readonly client: ClientFacts }
  | { readonly type: 'left'; readonly id: number }
  | { readonly type: 'report'; readonly replyTo: ActorRef<ClientsReport> }

export function clients(): Behavior<Clients> {
  return setup(() => {
    const present = new Map<number, ClientFacts>()
    let accepted = 0
    return receive((_ctx, m) => {
      switch (m.type) {
        case 'joined':
          if (!present.has(m.client.id)) accepted++
          present.set(m.client.id, m.client)
          return same
        case 'left':
          present.delete(m.id)
          return same
        case 'report':
          m.replyTo.tell({ clients: [...present.values()], accepted })
          return same
      }
    })
  })
}
