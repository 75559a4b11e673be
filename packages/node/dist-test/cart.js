// A class of actors that threads can find.
import { threadId } from 'node:worker_threads';
import { Actor, receive, same } from 'troupe';
import { defineActor } from '@troupe/node';
export class Cart extends Actor {
    #items;
    constructor(first) {
        super();
        this.#items = [first];
    }
    add(item) {
        if (item === '')
            throw new RangeError('an empty item');
        this.#items.push(item);
    }
    async addLater(item) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        this.#items.push(item);
        return this.#items.length;
    }
    items() {
        return this.#items;
    }
    where() {
        return { thread: threadId, path: this.self().path };
    }
}
defineActor(import.meta.url, 'Cart', Cart);
/** Uses the handle of a cart, wherever that lives. */
export const shopper = defineActor(import.meta.url, 'shopper', () => receive(async (_ctx, m) => {
    m.cart.tell.add(m.item);
    m.replyTo.tell({ items: await m.cart.with({ timeout: 4000 }).ask.items(), cart: m.cart });
    return same;
}));
//# sourceMappingURL=cart.js.map