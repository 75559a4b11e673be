// The public API, by hand.

import { requireCore } from '@troupe/core/internal'

export { attach, type Attached } from './attach/attach.ts'
export { type Descriptor, listSystems } from './attach/directory.ts'
export { observe, type ObserveOptions, type Observer, type ObserverWithPage } from './attach/observe.ts'
export type { Capsule, CapsuleEntry, CapsuleFailure } from './capsule/capsule.ts'
export { capsuleRecorder, type CapsuleRecorderOptions, type NoCapsule } from './capsule/recorder.ts'
export type { Hello, NamedSpan, NamedTrace, Operation, Operations, Watched, WatchWishes } from './attach/protocol.ts'
export type { TopRow } from './attach/ranking.ts'
export type { TreeNode } from './attach/tree.ts'
export { findings, type FindingsOptions } from './findings/finder.ts'
export { type Finding, type RuleName, ruleNames } from './findings/finding.ts'
export type { Frame, SeenEvent } from './findings/frame.ts'
export type { Closeness, Given, Partner } from './sampling/closeness.ts'
export type { Chapter, Recorded, Recording } from './sampling/recording.ts'
export { type GuardedOptions, serveGuarded } from './server/guarded.ts'
export type { GuardedFile, GuardedStream } from './server/guarded-server.ts'
export type { FigurePart, OwnPage, PagePart, TablePart, TextPart } from './feed/parts.ts'
export type { PageOptions } from './server/page-options.ts'
export type { Redact } from './server/payload.ts'
export type { Page } from './server/page-server.ts'
export type { Flow, Origin, Span, Trace } from './sampling/span.ts'
export type { ActorDetail } from './source/detail.ts'
export type { ObservationSource, SeenFailure, SeenLetter } from './source/source.ts'
export type { Update, Wishes } from './source/update.ts'

requireCore('@troupe/observer', 1)
