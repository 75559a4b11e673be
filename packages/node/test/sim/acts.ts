// What the actors of scenarios are told and asked: each message says what is to be done with it.

import type { ActorRef, AnyRef } from '@troupe/core'

/** What an actor is to do with a message. */
export type Act =
  | { readonly do: 'nothing' | 'throw' | 'wait' | 'stash' | 'unstash' | 'stop' | 'answer' | 'answer later' | 'answer twice' | 'keep' | 'unhandled' }
  | { readonly do: 'tell'; readonly to: ActorRef<Told>; readonly times: number }
  | { readonly do: 'ask'; readonly to: ActorRef<Told>; readonly timeout: number; readonly act: Act; readonly wait: boolean }
  | { readonly do: 'forward'; readonly to: ActorRef<Told>; readonly after: 'stay' | 'stop'; readonly act: Act }
  | { readonly do: 'watch' | 'unwatch' | 'end'; readonly ref: AnyRef }
  /** Fails, and so do the next starts. */
  | { readonly do: 'fail to start'; readonly times: number }
  | { readonly do: 'spawn'; readonly name: string; readonly on: 'parallel' | 'pinned' | undefined }

export type Note = { readonly type: 'note'; readonly from: string; readonly n: number; readonly act: Act }
export type Query = { readonly type: 'query'; readonly id: number; readonly act: Act; readonly hops: number; readonly replyTo: ActorRef<string> }
export type Told = Note | Query
