import { Actor } from 'troupe';
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
//# sourceMappingURL=cart.d.ts.map