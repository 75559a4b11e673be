import { type ActorRef, type AnyRef } from 'troupe';
import { type ActorDefinition } from '@troupe/node';
export interface Report {
    readonly who: string;
    readonly what: string;
    readonly value?: unknown;
}
export type Subject = {
    readonly type: 'note';
    readonly value: unknown;
} | {
    readonly type: 'echo';
    readonly value: unknown;
    readonly replyTo: ActorRef<unknown>;
} | {
    readonly type: 'where';
    readonly replyTo: ActorRef<number>;
} | {
    readonly type: 'state';
    readonly replyTo: ActorRef<{
        readonly count: number;
        readonly incarnation: number;
    }>;
} | {
    readonly type: 'throw';
    readonly message: string;
    readonly kind?: 'transient' | 'permanent' | 'fatal';
    readonly code?: string;
} | {
    readonly type: 'wait';
    readonly ms: number;
    readonly note: unknown;
} | {
    readonly type: 'spawn';
    readonly name: string;
    readonly dispatcher?: string;
} | {
    readonly type: 'watch';
    readonly ref: AnyRef;
} | {
    readonly type: 'unwatch';
    readonly ref: AnyRef;
} | {
    readonly type: 'tell';
    readonly ref: ActorRef<never>;
    readonly message: unknown;
} | {
    readonly type: 'ask';
    readonly ref: ActorRef<Subject>;
    readonly value: unknown;
    readonly timeout?: number;
    readonly await?: boolean;
    readonly replyTo?: ActorRef<unknown>;
} | {
    readonly type: 'forward';
    readonly ref: ActorRef<Subject>;
    readonly replyTo: ActorRef<unknown>;
} | {
    readonly type: 'relay';
    readonly to: ActorRef<Subject>;
    readonly back: ActorRef<Subject> | undefined;
    readonly timeout: number;
    readonly replyTo?: ActorRef<unknown>;
} | {
    readonly type: 'stash';
} | {
    readonly type: 'unstash';
} | {
    readonly type: 'timer';
    readonly ms: number;
    readonly note: unknown;
} | {
    readonly type: 'receive-timeout';
    readonly ms: number | null;
} | {
    readonly type: 'adapt';
    readonly replyTo: ActorRef<ActorRef<string>>;
} | {
    readonly type: 'stop-self';
} | {
    readonly type: 'never';
} | {
    readonly type: 'unknown';
    readonly replyTo?: ActorRef<unknown>;
} | {
    readonly type: 'burn';
    readonly ms: number;
} | {
    readonly type: 'spin';
} | {
    readonly type: 'exit';
} | {
    readonly type: 'reject';
} | {
    readonly type: 'throw-outside';
} | {
    readonly type: 'oom';
} | {
    readonly type: 'sender';
} | {
    readonly type: 'parent';
} | {
    readonly type: 'hand-over';
    readonly value: unknown;
} | {
    readonly type: 'signal-aborts';
};
export interface Script {
    readonly report: ActorRef<Report>;
    /** Fails in setup while the incarnation is below this. */
    readonly failStarts?: number;
    readonly slowStart?: number;
    readonly slowStop?: number;
    readonly quiet?: boolean;
}
export declare const subject: ActorDefinition<[script: Script], Subject>;
/** A task: hashes nothing, but takes its time. */
export declare function add(a: number, b: number): number;
export declare function failing(message: string): never;
export declare function untilAborted(_n: number, { signal }: {
    readonly signal: AbortSignal;
}): Promise<string>;
export declare function spin(): never;
export declare function fibonacci(n: number): number;
//# sourceMappingURL=subject.d.ts.map