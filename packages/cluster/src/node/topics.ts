// Topics: what is published on any node reaches the subscribers of all. Which nodes have any is in the directory of the cluster; a publication goes once
// to each of those, and from there to each subscriber.

import { type ActorRef, serviceKey, type ServiceKey } from '@troupe/core'
import { checkMessage, checkText, type SystemCore } from '@troupe/core/internal'
import { readSessionText } from '../values/session.ts'
import type { ClusterReceptionist } from './cluster-receptionist.ts'
import type { Post } from './post.ts'

/** A topic of a cluster. */
export interface Topic<M> {
  /** Tells all who are subscribed, on all nodes, as far as this one knows of them. At most once; in order per publisher's node and subscriber. */
  publish(message: M): void
  /** Subscribes an actor of this node; returns what ends that. It ends with the actor. */
  subscribe(subscriber: ActorRef<M>): () => void
}

export class Topics {
  readonly #post: Post
  readonly #receptionist: ClusterReceptionist

  constructor(core: SystemCore, post: Post, receptionist: ClusterReceptionist) {
    this.#post = post
    this.#receptionist = receptionist
    post.on('topic', {
      came: ([, name, message]) => {
        core.ledger.handled++
        if (typeof name === 'string' && message !== undefined) for (const ref of receptionist.here(keyOf(name))) ref.tell(message)
      },
    })
  }

  topic<M>(name: string): Topic<M> {
    checkText('name', name)
    const key = keyOf<M>(name)
    const receptionist = this.#receptionist
    return {
      publish: (message) => {
        checkMessage(message)
        for (const ref of receptionist.here(key)) ref.tell(message)
        for (const text of receptionist.sessionsWith(key)) {
          const session = readSessionText(text)
          if (session !== undefined) this.#post.send(session, ['topic', name, message])
        }
      },
      subscribe: (subscriber) => {
        receptionist.nameless(key)
        return receptionist.register(key, subscriber)
      },
    }
  }
}

function keyOf<M>(name: string): ServiceKey<M> {
  return serviceKey<M>(`topic/${name}`)
}
