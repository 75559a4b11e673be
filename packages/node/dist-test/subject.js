// One actor that does what it is told, on whatever thread, and reports what happens to it.
import { threadId } from 'node:worker_threads';
import { ActorError, receive, same, setup, stopped, unhandled } from 'troupe';
import { defineActor } from '@troupe/node';
export const subject = defineActor(import.meta.url, 'subject', (script) => setup(async (ctx) => {
    const { report } = script;
    const who = ctx.path;
    const tell = (what, value) => report.tell({ who, what, value });
    let count = 0;
    let stashing = false;
    let handing;
    if (script.slowStart !== undefined)
        await new Promise((resolve) => setTimeout(resolve, script.slowStart));
    if ((script.failStarts ?? 0) > ctx.incarnation)
        throw new Error(`start ${ctx.incarnation} fails`);
    if (ctx.handedOver !== undefined)
        tell('handed over', ctx.handedOver);
    const handle = (m) => {
        count++;
        if (stashing && m.type !== 'unstash') {
            ctx.stash.add(m);
            return same;
        }
        switch (m.type) {
            case 'note':
                tell('note', m.value);
                return same;
            case 'echo':
                m.replyTo.tell(m.value);
                return same;
            case 'where':
                m.replyTo.tell(threadId);
                return same;
            case 'state':
                m.replyTo.tell({ count, incarnation: ctx.incarnation });
                return same;
            case 'throw':
                throw m.kind === undefined
                    ? Object.assign(new TypeError(m.message, { cause: new Error('root') }), { code: m.code ?? 'none' })
                    : new ActorError(m.message, { kind: m.kind });
            case 'wait':
                return new Promise((resolve) => setTimeout(resolve, m.ms)).then(() => {
                    tell('note', m.note);
                    return same;
                });
            case 'spawn':
                tell('spawned', ctx.spawn(subject(script), { name: m.name, ...(m.dispatcher === undefined ? undefined : { dispatcher: m.dispatcher }) }));
                return same;
            case 'watch':
                ctx.watch(m.ref);
                return same;
            case 'unwatch':
                ctx.unwatch(m.ref);
                return same;
            case 'tell':
                m.ref.tell(m.message, ctx.self);
                return same;
            case 'ask': {
                const asked = ctx.ask(m.ref, { type: 'echo', value: m.value }, m.timeout === undefined ? undefined : { timeout: m.timeout }).then((answer) => (m.replyTo === undefined ? tell('answer', answer) : m.replyTo.tell(answer)), (cause) => tell('refused', cause.code ?? cause.message));
                return m.await === true ? asked.then(() => same) : same;
            }
            case 'relay':
                return ctx
                    .ask(m.to, (replyTo) => m.back === undefined
                    ? { type: 'echo', value: 1, replyTo }
                    : { type: 'relay', to: m.back, back: undefined, timeout: m.timeout, replyTo }, { timeout: m.timeout })
                    .then(() => same, () => same);
            case 'forward':
                ctx.forward(m.ref);
                return same;
            case 'stash':
                stashing = true;
                return same;
            case 'unstash':
                stashing = false;
                ctx.stash.unstashAll();
                return same;
            case 'timer':
                ctx.timers.once('t', m.ms, { type: 'note', value: m.note });
                return same;
            case 'receive-timeout':
                ctx.setReceiveTimeout(m.ms);
                return same;
            case 'adapt':
                m.replyTo.tell(ctx.adapt((text) => ({ type: 'note', value: `adapted ${text}` })));
                return same;
            case 'stop-self':
                return stopped;
            case 'never':
                tell('waiting for ever');
                return new Promise(() => { });
            case 'unknown':
                return unhandled;
            case 'burn': {
                const until = performance.now() + m.ms;
                while (performance.now() < until)
                    continue;
                return same;
            }
            case 'spin':
                for (;;)
                    continue;
            case 'exit':
                return process.exit(3);
            case 'reject':
                void Promise.reject(new Error('nobody caught this'));
                return same;
            case 'throw-outside':
                setTimeout(() => {
                    throw new Error('outside of any handler');
                });
                return same;
            case 'oom': {
                const hoard = [];
                for (;;)
                    hoard.push(new Array(100_000).fill(String(hoard.length)));
            }
            case 'sender':
                tell('sender', ctx.sender?.path);
                return same;
            case 'parent':
                ctx.parent.tell({ who, what: 'to parent' });
                return same;
            case 'hand-over':
                handing = m.value;
                throw new Error('to be restarted');
            case 'signal-aborts':
                tell('waiting for the end');
                return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true })).then(() => tell('aborted'));
        }
    };
    const hear = (signal) => {
        if (signal.type === 'PreRestart' && handing !== undefined)
            ctx.handOver(handing);
        if (script.quiet !== true)
            tell(signal.type, 'ref' in signal
                ? { path: signal.ref.path, reason: signal.reason }
                : 'child' in signal
                    ? signal.child.path
                    : 'cause' in signal
                        ? signal.cause?.message
                        : undefined);
        if (signal.type === 'PostStop' && script.slowStop !== undefined)
            return new Promise((resolve) => setTimeout(resolve, script.slowStop));
        return undefined;
    };
    return receive((_ctx, m) => handle(m), (_ctx, signal) => hear(signal));
}));
/** A task: hashes nothing, but takes its time. */
export function add(a, b) {
    return a + b;
}
export function failing(message) {
    throw Object.assign(new RangeError(message), { code: 'E_TASK' });
}
export function untilAborted(_n, { signal }) {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'), { once: true }));
}
export function spin() {
    for (;;)
        continue;
}
export function fibonacci(n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
//# sourceMappingURL=subject.js.map