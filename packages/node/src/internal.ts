// What sibling packages and simulations need of threads, and users do not.

export { Board, makeBoard } from './threads/wire/board.ts'
export type { Engine, EngineEvents, Launch } from './threads/pool/engine.ts'
export type { Berth, Medium, Way, Wiring } from './threads/wire/medium.ts'
export { type Place, type PlaceHost, startPlace, type ThreadData } from './threads/pool/place.ts'
export { type PoolSettings, ThreadPool } from './threads/pool/pool.ts'
export { ByteRing, makeRing } from './threads/wire/ring.ts'
export type { Thread } from './threads/pool/thread.ts'
