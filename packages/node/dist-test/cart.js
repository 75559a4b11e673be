// A class of actors that threads can find.
import { threadId } from 'node:worker_threads';
import { Actor } from 'troupe';
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
//# sourceMappingURL=cart.js.map