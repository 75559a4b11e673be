import { type ActorRef } from 'troupe';
import { type ActorDefinition } from '@troupe/node';
export type Counter = {
    type: 'add';
    by: number;
} | {
    type: 'get';
    replyTo: ActorRef<number>;
} | {
    type: 'where';
    replyTo: ActorRef<number>;
} | {
    type: 'fail';
    why: string;
};
export declare const counter: ActorDefinition<[start?: number], Counter>;
//# sourceMappingURL=counter.d.ts.map