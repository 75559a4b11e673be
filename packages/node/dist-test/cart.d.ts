import { Actor, type ActorHandle, type ActorRef } from 'troupe';
import { type ActorDefinition } from '@troupe/node';
export declare class Cart extends Actor {
    #private;
    constructor(first: string);
    add(item: string): void;
    addLater(item: string): Promise<number>;
    items(): string[];
    where(): {
        thread: number;
        path: string;
    };
}
export interface Shopping {
    readonly type: 'buy';
    readonly cart: ActorHandle<Cart>;
    readonly item: string;
    /** Makes the message go by port. */
    readonly large?: SharedArrayBuffer;
    readonly replyTo: ActorRef<{
        readonly items: string[];
        readonly cart: ActorHandle<Cart>;
    }>;
}
/** Uses the handle of a cart, wherever that lives. */
export declare const shopper: ActorDefinition<[], Shopping>;
//# sourceMappingURL=cart.d.ts.map