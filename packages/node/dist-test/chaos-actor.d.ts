import { type ActorRef } from 'troupe';
import { type ActorDefinition } from '@troupe/node';
export type Chaos = {
    readonly type: 'work';
    readonly seq: number;
    readonly from: number;
    readonly next: ActorRef<Chaos> | undefined;
} | {
    readonly type: 'ping';
    readonly replyTo: ActorRef<number>;
} | {
    readonly type: 'exit';
} | {
    readonly type: 'throw';
} | {
    readonly type: 'spin';
} | {
    readonly type: 'fail';
};
export declare const chaosActor: ActorDefinition<[me: number, complain: ActorRef<string>], Chaos>;
//# sourceMappingURL=chaos-actor.d.ts.map