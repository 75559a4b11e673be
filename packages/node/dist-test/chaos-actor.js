// The actors of the chaos run: each checks the order of what it gets, passes some on to a neighbour on whatever thread,
// and takes its thread down in several ways when told to.
import { receive, same, setup } from 'troupe';
import { defineActor } from '@troupe/node';
export const chaosActor = defineActor(import.meta.url, 'chaosActor', (me, complain) => setup((ctx) => {
    const seen = new Map();
    return receive((_ctx, m) => {
        switch (m.type) {
            case 'work': {
                const last = seen.get(m.from) ?? -1;
                if (m.seq <= last)
                    complain.tell(`actor ${me} got ${m.seq} of ${m.from} after ${last}`);
                seen.set(m.from, m.seq);
                m.next?.tell({ type: 'work', seq: m.seq, from: me + 1_000_000, next: undefined });
                return same;
            }
            case 'ping':
                m.replyTo.tell(ctx.incarnation);
                return same;
            case 'exit':
                return process.exit(7);
            case 'throw':
                setTimeout(() => {
                    throw new Error('chaos');
                });
                return same;
            case 'spin':
                for (;;)
                    continue;
            case 'fail':
                throw new Error('chaos of one');
        }
    });
}));
//# sourceMappingURL=chaos-actor.js.map