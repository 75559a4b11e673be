// What sibling packages and simulations need of threads, and users do not.

export { Board, makeBoard } from './threads/wire/board.ts'
export type { EngineEvents, Launch } from './threads/pool/engine.ts'
export type { Berth, Medium, Way, Wiring } from './threads/wire/medium.ts'
export { type Place, startPlace } from './threads/pool/place.ts'
export { ThreadPool } from './threads/pool/pool.ts'
export { ByteRing, makeRing } from './threads/wire/ring.ts'
export { standingOf } from './threads/survey/standing.ts'
