// Actors for the tests of threads: built, so that threads of any Node can load them.
import { threadId } from 'node:worker_threads';
import { receive, same, setup } from 'troupe';
import { defineActor } from '@troupe/node';
export const counter = defineActor(import.meta.url, 'counter', (start = 0) => setup(() => {
    let n = start;
    return receive((_ctx, m) => {
        switch (m.type) {
            case 'add':
                n += m.by;
                return same;
            case 'get':
                m.replyTo.tell(n);
                return same;
            case 'where':
                m.replyTo.tell(threadId);
                return same;
            case 'fail':
                throw new Error(m.why);
        }
    });
}));
//# sourceMappingURL=counter.js.map