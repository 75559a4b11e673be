// The cases of peers' test suites, and where each fact is: kept as a test beside this file,
// covered by another test of ours, different on purpose, or without a counterpart. `facts.test.ts` holds this to the tests and
// to the tables of docs/coming-from. Read: OTP 21's supervisor_SUITE, and Pekko's main branch of August 2026.

export type Verdict =
  | { readonly is: 'kept' }
  | { readonly is: 'covered'; readonly file: string; readonly title: string }
  /** `row` is the first cell of a row in the table of `page`. */
  | { readonly is: 'differs'; readonly row: string }
  | { readonly is: 'absent'; readonly because: string }

export type Suite = Readonly<Record<string, Verdict>>
type Some = readonly (readonly [Verdict, readonly string[]])[]

export const kept = (...cases: string[]): Some[number] => [{ is: 'kept' }, cases]
export const covered = (file: string, title: string, ...cases: string[]): Some[number] => [{ is: 'covered', file, title }, cases]
export const differs = (row: string, ...cases: string[]): Some[number] => [{ is: 'differs', row }, cases]
export const absent = (because: string, ...cases: string[]): Some[number] => [{ is: 'absent', because }, cases]

/** How many cases there are of each verdict, as the pages of docs/coming-from say it. */
export function sumOf(suites: Readonly<Record<string, Suite>>): string {
  const all = Object.values(suites).flatMap((cases) => Object.values(cases))
  const count = (is: Verdict['is']): number => all.filter((verdict) => verdict.is === is).length
  return `Of ${all.length} cases ${count('kept')} are kept as tests of their own, ${count('covered')} are checked by other tests of this project, ${count('differs')} differ, and ${count('absent')} have no counterpart here.`
}

/** One verdict for each case; a case that is named twice is a mistake. */
export function suite(...some: Some): Suite {
  const verdicts: Record<string, Verdict> = {}
  for (const [verdict, cases] of some)
    for (const name of cases) {
      if (name in verdicts) throw new Error(`${name} has two verdicts.`)
      verdicts[name] = verdict
    }
  return verdicts
}

const noHotCode = 'there is no hot code loading'

export const otp: Readonly<Record<string, Suite>> = {
  supervisor_SUITE: suite(
    kept(
      'sup_start_normal',
      'sup_start_ignore_child',
      'sup_start_ignore_temporary_child',
      'sup_start_ignore_temporary_child_start_child',
      'sup_start_ignore_temporary_child_start_child_simple',
      'sup_start_ignore_permanent_child_start_child_simple',
      'sup_start_fail',
      'sup_start_child_returns_error_simple',
      'sup_start_map',
      'sup_start_map_simple',
      'child_adm',
      'child_adm_simple',
      'child_specs',
      'sup_flags',
      'multiple_restarts',
      'one_for_one_escalation',
      'one_for_all_escalation',
      'simple_one_for_one_escalation',
      'rest_for_one_escalation',
      'rest_for_one_other_child_fails_restart',
      'simple_one_for_one_extra',
      'tree',
      'count_children',
      'count_children_supervisor',
      'do_not_save_child_specs_for_temporary_children',
      'hanging_restart_loop',
      'hanging_restart_loop_rest_for_one',
      'hanging_restart_loop_simple',
      'order_of_children',
    ),
    covered('exit-reasons.test.ts', 'a setup that returns stopped ends normally and never runs', 'sup_start_ignore_init'),
    covered('supervisor/behaviours.test.ts', '15: a start that fails stops those started before, in reverse', 'sup_start_error_return'),
    covered(
      'supervisor/control.test.ts',
      'startChild refuses a name that lives, a name on file, an unknown need, and a start that fails',
      'sup_start_child_returns_error',
    ),
    covered(
      'supervisor/control.test.ts',
      'restartChild of a child that does not come up leaves it stopped and on file',
      'sup_start_restart_child_returns_error',
    ),
    covered(
      'supervisor/behaviours.test.ts',
      "22: shutdown 'kill' gives no time, 'infinity' gives all of it",
      'sup_stop_infinity',
      'sup_stop_brutal_kill',
    ),
    covered('supervisor/behaviours.test.ts', '22: a shutdown timeout kills only the slow child', 'sup_stop_timeout', 'child_unlink'),
    covered(
      'supervisor/otp-table.test.ts',
      '${strategy}: a ${restart} child that ended with ${reason}',
      ...['permanent', 'transient', 'temporary'].flatMap((type) => ['normal', 'shutdown', 'abnormal'].map((end) => `${type}_${end}`)),
      'one_for_one',
      'one_for_all',
      'rest_for_one',
      'simple_one_for_one',
    ),
    covered('supervisor/behaviours.test.ts', '17: in a group restart temporary bystanders are stopped and not restarted', 'temporary_bystander'),
    covered('supervisor/behaviours.test.ts', '20: if another child fails to start during a group restart', 'one_for_all_other_child_fails_restart'),
    covered('supervisor/control.test.ts', 'simple-one-for-one: instances are started from the template', 'simple_one_for_one_shutdown'),
    covered(
      'supervisor/control.test.ts',
      '30: 100,000 watched instances stop at once',
      'simple_one_for_one_scale_many_temporary_children',
      'scale_start_stop_many_children',
    ),
    differs('Unknown options are ignored', 'sup_start_map_faulty_specs'),
    differs('A child that restarts is not active', 'count_restarting_children'),
    absent('a start gives a ref, and nothing beside it', 'extra_return'),
    absent('a program is no application that a controller starts', 'faulty_application_shutdown'),
    absent('a supervisor has no callback module', 'get_callback_module'),
    absent('a child is given as a behavior, which holds its arguments', 'do_not_save_start_parameters_for_temporary_children'),
    absent('names are not global', 'simple_global_supervisor'),
    absent(noHotCode, 'code_change', 'code_change_map', 'code_change_simple', 'code_change_simple_map'),
  ),
}

const onePolicy = 'Supervision is wrapped around behaviors, and nests'

export const pekko: Readonly<Record<string, Suite>> = {
  SupervisionSpec: suite(
    kept(
      'stop when unhandled exception',
      'support nesting supervise',
      'stop at first exception when restart retries limit is 0',
      'create underlying deferred behavior immediately',
      'stop children when backoff',
      'stop children when restarting second time during unstash',
      'stop children when backoff second time during unstash',
      'stop children when restart (with limit) from exception in first setup',
      'stop children when backoff from exception in first setup',
      'stop children when restart (with limit) from exception in later setup',
      'stop children when backoff from exception in later setup',
      'publish dropped messages while backing off and stash is full',
      'fail when exception from AbstractBehavior constructor',
      'ensure stash message retention on start exception when restart',
      'ensure stash message retention on start exception when backoff',
      'be able to recover from a DeathPactException',
      'apply supervision to adapter function',
      'apply the right nested supervision',
      'that is initially stopped should be stopped',
      'that is stopped after setup should be stopped',
      'that is stopped after restart should be stopped',
    ),
    covered('failure.test.ts', 'begins again from the behavior given to spawn', 'receive message', 'restart when handled exception'),
    covered('failure.test.ts', '3. resume keeps state', 'resume when handled exception'),
    covered('failure-log.test.ts', '14. a fatal error', 'not catch fatal error'),
    covered(
      'failure.test.ts',
      'failure n+1 within the window triggers onLimit',
      'stop after restart retries limit',
      'stop when restart limit is hit',
    ),
    covered('failure.test.ts', 'the window resets the count', 'reset retry limit after withinTimeRange', 'reset fixed limit after timeout'),
    covered('failure.test.ts', "with supervision 'stop' a throw stops the actor", 'stop when strategy is stop'),
    covered(
      'failed-start.test.ts',
      '12. a setup that throws runs in the first turn',
      'stop when strategy is stop - exception in setup',
      'fail to restart when deferred factory throws unhandled',
    ),
    covered('failure.test.ts', 'restart waits until children have stopped', 'stop children when restarting'),
    covered(
      'incarnations.test.ts',
      'a new incarnation hears nothing of the children of the one before',
      "successfully restart after stopping watchWith'd children",
    ),
    covered('failure.test.ts', 'with children kept, they stay', 'optionally NOT stop children when restarting'),
    covered('escalation.test.ts', 'a kept child that fails up to a parent in its backoff', 'optionally NOT stop children when backoff'),
    covered(
      'failed-start.test.ts',
      'doubles, is clamped, resets after quiet',
      'restart after exponential backoff',
      'reset exponential backoff count after reset timeout',
    ),
    covered('restart-budget.test.ts', 'C6: for random times, limits and backoffs', 'fail if reaching maximum number of restarts with backoff'),
    covered(
      'failed-start.test.ts',
      'with retryStart a failing first %s is retried under the limit and backoff',
      'restart with exponential backoff when deferred factory throws',
      'restart.withLimit when deferred factory throws',
    ),
    covered(
      'failed-start.test.ts',
      'with retryStart a start that fails for good stops at the limit',
      'fail after more than limit in restart.withLimit when deferred factory throws',
      'fail instead of restart with limit when deferred factory throws unhandled',
    ),
    covered('failed-start.test.ts', "a start that fails during a restart under 'resume' stops", 'fail to resume when deferred factory throws'),
    covered(
      'failed-start.test.ts',
      'a failing %s during a restart counts as a failure',
      'fail instead of restart when deferred factory throws',
      'fail instead of restart with exponential backoff when deferred factory throws unhandled',
    ),
    covered(
      'stash.test.ts',
      '10. the failure of a handler while unstashing loses none of the rest',
      'ensure unhandled message retention during unstash exception when restart',
      'ensure unhandled message retention during unstash exception when backoff',
    ),
    covered(
      'failure.test.ts',
      '5. the budget belongs to the child, not to the parent',
      'replace supervision when new returned behavior catches same exception',
      'replace supervision when new returned behavior catches same exception nested in other behaviors',
      'replace backoff supervision duplicate when behavior is created in a setup',
    ),
    covered(
      'default-log.test.ts',
      'hears of a failure at the severity it was given',
      'log exceptions when logging is enabled and provided log level matches',
      'do not log exceptions when logging is enabled and provided log level does not match',
    ),
    differs(
      'An actor without a policy stops when it fails',
      'stop when no supervise',
      'default to stop when no strategy',
      'stop when not supervised',
    ),
    differs(
      onePolicy,
      'support flatten supervise',
      'support nesting exceptions with different strategies',
      'support flattening exceptions with different strategies',
      'support nesting exceptions with outer restart and inner backoff strategies',
      'support flattening exceptions with outer restart and inner backoff strategies',
      'support nesting exceptions with inner restart and outer backoff strategies',
      'support flattening exceptions with inner restart and outer backoff strategies',
      'support nesting to handle different exceptions',
      'handle reset backoff count for more than one nested restartWithBackoff',
      'handle reset backoff count for more than one flatten restartWithBackoff',
      'work with nested supervisions and defers',
      'work with flatten supervisions and defers',
      'apply the right flatten supervision',
    ),
    absent('the quiet time follows from the limit', 'default resetBackoffAfter to average of min and max backoff'),
    absent('the level of a failure is that of its error', 'log at critical level after specified restartWithBackoff attempts'),
    absent('a behavior is no interceptor of another message type', 'handle exceptions from different message type'),
    absent('a class gets its context from the system', 'not allow AbstractBehavior without setup', 'detect AbstractBehavior with wrong ActorContext'),
  ),
  BehaviorSpec: suite(
    kept(
      'react to a message after missing one',
      'must react to a message after ignoring one',
      'must switch back to state A',
      'react to PostStop after swap',
      'react to PreRestart after swap',
      'react to Terminated after swap',
      'must be reusable',
    ),
    covered('lifecycle.test.ts', 'start: setup, PreStart, PostStart, and only then messages', 'must react to PreStart'),
    covered(
      'lifecycle.test.ts',
      'stop: PreStop, then the children, each heard of, then PostStop',
      'must react to PostStop',
      'must react to PostStop after a message',
      'must stop',
    ),
    covered(
      'lifecycle.test.ts',
      'restart: PreRestart, the children, PostStop; then setup',
      'must react to PreRestart',
      'must react to PreRestart after a message',
    ),
    covered(
      'watch.test.ts',
      'watching twice delivers one Terminated',
      'must react to Terminated',
      'must react to Terminated after a message',
      'must react to a message after Terminated',
    ),
    covered('pending.test.ts', '54. messages that arrive during an await are handled after it, in order', 'react to two messages'),
    covered('ledger.test.ts', 'unhandled is counted and observed', 'must return Unhandled'),
    covered('failure.test.ts', 'returns to the first behavior, not to the one it had become', 'must be in state A', 'must switch to state B'),
    covered(
      'peers/pekko-behavior.test.ts',
      'hears its end, and the first one does not',
      'react to PostStop after a message after swap',
      'react to PreRestart after a message after swap',
    ),
    covered(
      'peers/pekko-behavior.test.ts',
      'a Terminated reaches the behavior that the actor has become',
      'react to Terminated after a message after swap',
      'react to a message after Terminated after swap',
    ),
  ),
  DeferredSpec: suite(
    kept('must create underlying when nested', 'must not allow setup(same)'),
    covered('failed-start.test.ts', '12. a setup that throws runs in the first turn', 'must stop when exception from factory'),
    covered('exit-reasons.test.ts', 'a setup that returns stopped ends normally and never runs', 'must stop when deferred result it Stopped'),
    covered(
      'lifecycle.test.ts',
      'start: setup, PreStart, PostStart, and only then messages',
      'must create underlying',
      'must create underlying deferred behavior immediately',
    ),
    absent(
      'there is no transformMessages: a ref of another protocol is made by ctx.adapt',
      'must un-defer underlying when wrapped by transformMessages',
    ),
    absent('there is no monitor: a link of middleware sees each message', 'must un-defer underlying when wrapped by monitor'),
  ),
  ActorContextSpec: suite(
    kept(
      'restart and stop a child actor',
      'not stop non-child actor',
      'unwatch a child actor before its termination',
      'return the right context info',
      'return right info about children',
      'schedule a message',
      'not allow null messages',
      'not have problems stopping already stopped child',
    ),
    covered(
      'lifecycle.test.ts',
      'start: setup, PreStart, PostStart, and only then messages',
      'canonicalize behaviors',
      'correctly wire the lifecycle hook',
    ),
    covered('lifecycle.test.ts', 'stop: PreStop, then the children, each heard of, then PostStop', 'signal post stop after voluntary termination'),
    covered(
      'exit-reasons.test.ts',
      'a parent hears ChildStopped without watching, and a watcher Terminated',
      'stop a child actor',
      'watch a child actor before its termination',
    ),
    covered('failure.test.ts', 'begins again from the behavior given to spawn', 'reset behavior upon restart'),
    covered('failure.test.ts', '3. resume keeps state', 'not reset behavior upon resume'),
    covered('failure.test.ts', "with supervision 'stop' a throw stops the actor", 'stop upon stop'),
    covered(
      'watch.test.ts',
      'watching a dead actor delivers Terminated exactly once, with its reason and cause',
      'watch a child actor after its termination',
    ),
    covered('timers.test.ts', 'user messages reset it; it comes again and again', 'set small receive timeout', 'set large receive timeout'),
    differs('A `Terminated` that is not handled is a failure of the watcher', 'terminate upon not handling Terminated'),
    absent('behaviors are run by an actor, not by hand', 'be usable from Behavior.interpretMessage'),
    absent('an adapter has no name', 'create a named adapter'),
  ),
  WatchSpec: suite(
    kept('notify a parent of child termination because of failure with a supervisor'),
    covered(
      'exit-reasons.test.ts',
      'a parent hears ChildStopped without watching, and a watcher Terminated',
      'get notified of graceful actor termination',
      'notify a parent of child termination because of failure',
    ),
    covered('watch.test.ts', 'watching twice delivers one Terminated', 'allow idempotent invocations of watch'),
    covered(
      'watch.test.ts',
      'watchWith delivers its message once, and no Terminated',
      'get notified of actor termination with a custom message',
      'allow idempotent invocations of watchWith with matching msgs',
    ),
    covered(
      'watch.test.ts',
      'mixing is refused in both directions until unwatch',
      'allow watch message definition after watch using unwatch',
      'allow watch message redefinition using unwatch',
      'fail when watch is used after watchWith on same subject',
      'fail when watchWith is used after watch on same subject',
    ),
    differs(
      'A `Terminated` that is not handled is a failure of the watcher',
      'fail the actor itself with DeathPact if it does not accept Terminated',
    ),
    differs('`watchWith` is refused while another message is set', 'fail when watchWitch is used after watchWith with different termination message'),
  ),
  StashBufferSpec: suite(
    kept('undefer returned behaviors when unstashing'),
    covered(
      'stash.test.ts',
      'unstashing an empty stash does nothing, and clear drops with a count',
      'answer empty correctly',
      'append and drop',
      'clear',
    ),
    covered('stash.test.ts', '34. overflow with error throws inside the handler and leaves the buffer unchanged', 'enforce capacity'),
    covered(
      'stash.test.ts',
      'unstashed messages come in order, before what is in the mailbox',
      'process elements in the right order',
      'unstash to returned behaviors',
    ),
    covered(
      'stash.test.ts',
      'a message restashed while unstashing is not handled again by that call',
      'be able to stash while unstashing',
      'unstash at most the number of messages in the buffer',
    ),
    covered('stash.test.ts', 'clear in the handler that has unstashed drops all of it', 'be able to clear while unstashing'),
    absent('messages that were put aside cannot be looked at', "answer 'exists' and 'contains' correctly", 'answer thruthfully about its capacity'),
    absent('unstashing takes no behavior', 'fail quick on invalid start behavior'),
  ),
  StashSpec: suite(
    kept(
      'work with Behaviors.same when switching Behavior while unstashing one',
      'signal PostStop to the latest unstashed behavior on failure with stop supervision',
      'signal PreRestart to the latest unstashed behavior on failure with restart supervision',
      'signal PreRestart to the latest unstashed behavior on failure with restart supervision and slow stopping child',
      'signal PreRestart to the latest unstashed behavior on failure with backoff supervision',
      'handle resume correctly on failure unstashing',
      'be possible in combination with setup',
      'deal with unhandled the same way as normal unhandled',
      'deal with initial stop',
      'deal with stop',
    ),
    covered(
      'stash.test.ts',
      'unstashed messages come in order, before what is in the mailbox',
      'support unstash all',
      'work with initial Behaviors.same',
      'work with intermediate Behaviors.same',
      'work with initial same',
    ),
    covered('stash.test.ts', 'unstash(n) brings back the n oldest; the others stay, in order', 'support unstash a few at a time'),
    covered(
      'stash.test.ts',
      '10. the failure of a handler while unstashing loses none of the rest',
      'work with supervised initial Behaviors.same',
      'work with supervised intermediate Behaviors.same',
      'signal PreRestart to the latest unstashed behavior on failure with backoff supervision and slow stopping child',
    ),
    differs('An actor without a policy stops when it fails', 'signal PostStop to the latest unstashed behavior on failure'),
  ),
  TimerSpec: suite(
    kept(
      'cancel timers when stopped from exception',
      'cancel timers when stopped voluntarily',
      'keep timers when behavior changes',
      'discard TimerMsg when exception from withTimers block',
    ),
    covered('timers.test.ts', 'it arrives in time order, and a cancelled one does not', 'schedule non-repeated ticks'),
    covered('timers.test.ts', 'every keeps its rate whatever handlers take', 'schedule repeated ticks'),
    covered('timers.test.ts', '${how} discards the tick that is already in the mailbox', 'replace timer', 'cancel timer'),
    covered(
      'timers.test.ts',
      'a tick of an earlier incarnation that is queued is discarded by the next',
      'discard timers from old incarnation after restart, alt 1',
      'discard timers from old incarnation after restart, alt 2',
      'discard TimerMsg on restart',
    ),
    covered('timers.test.ts', 'no timer fires while PreRestart, PostStop or PreStop are pending', 'not leak timers when PostStop is used'),
    absent('timers belong to the actor, not to a block of its behavior', 'allow for nested timers'),
  ),
  AskSpec: suite(
    kept('fail the future if the actor is already terminated'),
    covered('ask.test.ts', 'an answer of undefined is an answer', 'succeed when the actor is alive'),
    covered('ask.test.ts', '40. an ask rejected by timeout leaves nothing behind', "fail the future if the actor doesn't reply in time"),
    covered(
      'ask.test.ts',
      '39. a late reply is a dead letter, and harmless; a second reply too',
      'publish dead-letter if the context.ask has completed on timeout',
      'publish dead-letter if the AskPattern.ask has completed on timeout',
    ),
    covered(
      'rejection.test.ts',
      'the question is rejected with AskRejected, which carries the error',
      'transform a replied org.apache.pekko.actor.Status.Failure to a failed future',
      'fail future for a fail response with text',
      'fail future for a fail response with custom exception',
    ),
    covered('rejection.test.ts', 'the first answer counts', 'unwrap nested response a successful response'),
    covered(
      'rejection.test.ts',
      'a handler that does not catch the rejection of its own question fails of it',
      'fail asking actor if responder function throws',
    ),
    absent('there is no symbol for ask', 'provide a symbolic alias that works the same'),
    absent('a ref is made by spawn, so there is none of an actor that never was', "fail the future if the actor doesn't exist"),
  ),
  ActorContextAskSpec: suite(
    kept('fail actor when mapping does not match response', 'receive replies in same order as sent'),
    covered('ask-styles.test.ts', 'the remaining time flows into nested asks as a deadline', 'provide a safe ask'),
    covered(
      'ask.test.ts',
      '40. an ask rejected by timeout leaves nothing behind',
      'deal with timeouts in ask',
      "must timeout if recipient doesn't reply in time",
    ),
    covered(
      'rejection.test.ts',
      'the question is rejected with AskRejected, which carries the error',
      'unwrap error message StatusReply messages using askWithStatus',
      'unwrap error with custom exception StatusReply messages using askWithStatus',
    ),
    covered('rejection.test.ts', 'the first answer counts', 'unwrap successful StatusReply messages using askWithStatus'),
  ),
  ActorContextPipeToSelfSpec: suite(
    kept('handle failure'),
    covered('peers/pekko-messages.test.ts', 'a promise that rejects is told as the message', 'handle success'),
    covered('ledger.test.ts', 'undefined is no message: a dead letter wherever it is told', 'handle adapted null'),
  ),
  ActorContextDelegateSpec: suite(
    absent(
      'a handler calls another function, and returns what that returns',
      'delegate message by given behavior and handle resulting Behavior.same properly',
      'publish unhandled message to eventStream as UnhandledMessage and switch to delegator behavior',
    ),
  ),
  MailboxSelectorSpec: suite(
    covered(
      'metrics.test.ts',
      'inspect names the mailbox and its capacity',
      'default is unbounded',
      'select an specific mailbox from MailboxSelector',
      'select an specific mailbox from empty Props',
      'select an specific mailbox from DispatcherSelector',
    ),
  ),
  EventStreamSpec: suite(
    kept('not cause infinite loop when stopping subscribed by message adapter for DeadLetter', 'listen for all subclasses of the events'),
    covered(
      'events.test.ts',
      'events come by class, by type tag or by predicate, in order of publication',
      'register subscribers',
      'accept published events',
      'dispatch events to subscribers of that type',
    ),
    covered('events.test.ts', 'a subscription that is cancelled delivers nothing of what it had buffered', 'unsubscribe subscribers'),
    covered(
      'peers/pekko-messages.test.ts',
      'a subscriber to dead letters by an adapter ends without making more of them',
      'be subscribed by message adapter for DeadLetter',
    ),
  ),
  LocalPubSubSpec: suite(
    kept('publish to all local subscriber actors of a topic'),
    covered('events.test.ts', 'a subscription that is cancelled delivers nothing of what it had buffered', "doesn't publish after unsubscribe"),
    covered('peers/pekko-messages.test.ts', 'every subscriber hears an event once', "doesn't publish across topics unsubscribe"),
    absent('a topic is one for the system: its events', 'publish to all subscriber actors across several instances of the same topic'),
  ),
  PoolRouterSpec: suite(
    kept('use the specified dispatcher for its routees'),
    covered('routers.test.ts', 'round-robin goes one after the other', 'use the default dispatcher per default for its routees'),
  ),
  RoutersSpec: suite(
    kept('publish Dropped messages when there are no routees available'),
    covered('routers.test.ts', 'round-robin goes one after the other', 'create n children and route messages to'),
    covered(
      'routers.test.ts',
      'shrinks by those that stop normally, and stops with the last',
      'keep routing to the rest of the children if some children stops',
      'stops if all children stops',
    ),
    covered('routers.test.ts', 'broadcast of a pool or group says which messages go to all routees', 'support broadcast'),
    covered(
      'routers.test.ts',
      'follows a key of the receptionist',
      'route messages across routees registered to the receptionist',
      'handle a changing set of routees',
    ),
    absent(
      'the local receptionist knows no nodes',
      'not route to unreachable when there are reachable',
      'route to unreachable when there are no reachable',
    ),
  ),
  RoutingLogicSpec: suite(
    covered('routers.test.ts', 'round-robin goes one after the other', 'round robin', 'wrap around when several removed'),
    covered(
      'routers.test.ts',
      '${name} skips nobody when a routee leaves that was served earlier',
      'not skip one on removal',
      'handle last one removed',
      'move on to next when several removed',
    ),
    covered('routers.test.ts', 'forgets a routee that ended, and takes new ones', 'pick first in with a completely new set of routees'),
    covered('routers.test.ts', 'random reaches everybody, about alike', 'select randomly'),
    covered('routers.test.ts', 'consistent-hash sends a key to the same routee every time', 'hash consistently'),
    covered('routers.test.ts', 'adding one to %i routees moves at most 1/n of the keys', 'hash consistently when several new added'),
    covered('routers.test.ts', 'removing one moves only its own keys', 'hash consistently when several new removed'),
    covered('routers.test.ts', '49. without routees dead-letters with the reason, and an ask is refused', 'throw an error when there are no routees'),
    absent('there is no ring of virtual nodes', 'not accept virtualization factor lesser than 1', 'hash consistently with virtualization factor'),
  ),
  LocalReceptionistSpec: suite(
    kept(
      'unregister services when they terminate',
      'unregister per service key, not service actor',
      'unregister and re-register same service actor',
      'support subscribing to different services with the same subscriber',
    ),
    covered(
      'receptionist.test.ts',
      'an actor is found by its key, typed, in order of registration',
      'register a service',
      'register two services',
      'register two services with the same key',
      'work with ask',
      'be present in the system',
    ),
    covered(
      'receptionist.test.ts',
      'a subscriber gets the listing at once and after every change, and none after it stopped',
      'support subscribing to service changes',
    ),
    covered('peers/pekko-messages.test.ts', 'an actor that leaves one key stays under the other', 'unregister programmatically'),
    absent('the receptionist is no actor with a name', 'not conflict with the ClusterClient receptionist default name'),
  ),
  InterceptSpec: suite(
    kept('intercept with recursively setup', 'be useful for implementing custom message based PoisonPill', 'intercept PostStop'),
    covered(
      'middleware.test.ts',
      'the links of the system stand outside those of the actor',
      'intercept messages',
      'intercept messages keeping all different interceptors (initially)',
      'be possible to combine with another interceptor',
    ),
    covered(
      'middleware.test.ts',
      'a link can replace a message, and the next link and the handler see that',
      'be able to intercept message subclasses',
    ),
    covered(
      'peers/pekko-messages.test.ts',
      'a link sees each message once, however often the behavior changes by setup',
      'intercept with nested setup',
      'not grow stack when nesting same interceptor',
      'intercept messages only using the latest of the same interceptor (recursively)',
      'intercept messages keeping all different interceptors (recursively)',
    ),
    covered(
      'peers/pekko-messages.test.ts',
      'a link that swallows a message may stop the actor instead',
      'be useful for implementing signal based PoisonPill',
      'be possible to combine with PoisonPillInterceptor',
    ),
    covered('log-fields.test.ts', 'fields by message are those of the message in progress', 'be possible to combine with MDC'),
    covered('peers/pekko-behavior.test.ts', 'a setup that returns same, or unhandled, fails the start', 'not allow intercept setup(same)'),
    differs(
      'An interceptor is a part of the behavior',
      'intercept messages only using the outermost of the same interceptor (initially)',
      'allow an interceptor to replace started behavior',
      'be possible to combine with transformMessages',
    ),
  ),
  OrElseSpec: suite(
    absent(
      'behaviors are composed by plain functions',
      'use first matching function',
      'use first matching partial function',
      'use first matching behavior via delegating interceptor',
    ),
  ),
  TransformMessagesSpec: suite(
    absent(
      'there is no transformMessages: a ref of another protocol is made by ctx.adapt',
      'transform from an outer type to an inner type',
      'filter messages',
      'not build up when the same transformMessages is used many times (initially)',
      'not build up when the same transformMessages is used many times (recursively)',
      'not allow mixing different transformMessages in the same behavior stack',
      'be possible to combine with inner timers',
      'be possible to combine with outer timers',
    ),
  ),
  MonitorSpec: suite(
    absent(
      'there is no monitor: a link of middleware sees each message',
      'monitor messages',
      'monitor messages once per ref initially',
      'monitor messages once per ref recursively',
    ),
  ),
  MessageAdapterSpec: suite(
    kept(
      'use the right adapter',
      'not catch exception thrown after adapter, when processing the message',
      'redirect to DeadLetter after termination',
    ),
    covered('adapters.test.ts', 'moves the message, with its sender and headers, through the adapter', 'map messages inside the actor'),
    covered('peers/pekko-supervision.test.ts', 'what an adapter throws is a failure of its actor', 'stop when exception from adapter'),
    absent('the compiler refuses a message that no adapter takes', 'not break if wrong/unknown response type'),
  ),
  AdaptationFailureSpec: suite(
    covered('peers/pekko-supervision.test.ts', 'what an adapter throws is a failure of its actor', 'default to crash the actor or $name'),
    differs('An adapter that fails is a signal first', 'ignore the failure for $name'),
  ),
  SpawnProtocolSpec: suite(
    kept('spawn child actor'),
    covered(
      'peers/pekko-behavior.test.ts',
      'an actor that spawns for others is asked for a child',
      'have nice API for ask',
      'be possible to use as guardian behavior',
      'spawn with given name',
      'spawn anonymous when name undefined',
    ),
    covered(
      'bad-input.test.ts',
      'a taken name is refused with its path, and free again once that actor has ended',
      'spawn with unique name when given name is taken',
    ),
  ),
  StopSpec: suite(
    kept('execute the post stop when stopping after setup'),
    covered('lifecycle.test.ts', 'stop: PreStop, then the children, each heard of, then PostStop', 'signal PostStop and then execute the post stop'),
    differs(
      '`stopped` may bring a function that is run at the end',
      'execute the post stop',
      'execute the post stop when wrapped',
      'execute the post stop early',
    ),
  ),
  GracefulStopSpec: suite(
    kept('properly stop the children and perform the cleanup'),
    covered(
      'lifecycle.test.ts',
      'stop: PreStop, then the children, each heard of, then PostStop',
      'properly perform the cleanup and stop itself for no children case',
    ),
  ),
  OnSignalSpec: suite(
    covered('setup-signals.test.ts', '%s hears every signal of a behavior that has none', 'must correctly install the signal handler'),
    covered(
      'lifecycle.test.ts',
      'stop: PreStop, then the children, each heard of, then PostStop',
      'execute post stop for child $nrChildren',
      'execute post stop for guardian behavior $nrChildren',
    ),
  ),
  ReceivePartialSpec: suite(
    absent(
      'a handler of part of the messages is match or a switch',
      'correctly install the receiveMessage handler',
      'correctly install the receive handler',
    ),
  ),
  CancelReceiveTimeoutSpec: suite(
    covered(
      'timers.test.ts',
      'a stale one that is queued when it is cancelled or replaced is discarded',
      'silently discard a stale ReceiveTimeout after cancelReceiveTimeout',
    ),
  ),
  ActorRefIgnoreSpec: suite(
    absent(
      'there is no ref that ignores: `replyTo` is left out, or an actor ignores',
      'ignore all incoming messages',
      "make a Future timeout when used in a 'ask'",
      "ignore messages when used in actor-to-actor interaction ('ask')",
      'be watchable from another actor without throwing an exception',
      'be a singleton',
      'be adaptable back and forth to classic',
    ),
  ),
  ActorSystemSpec: suite(
    covered(
      'supervisor/root.test.ts',
      'a root that ends by itself ends the system without a cause',
      'start the guardian actor and terminate when it terminates',
    ),
    covered('supervisor/root.test.ts', 'a root whose start fails ends the system with that', 'shutdown if guardian shuts down immediately'),
    covered(
      'supervisor/root.test.ts',
      'shutdown ends a system with a root without naming a cause',
      'terminate the guardian actor',
      'be able to terminate immediately',
    ),
    covered('default-log.test.ts', 'such as pino fits as it is, and hears what would have been printed', 'log to the event stream'),
    covered('bad-input.test.ts', 'a system without a name is refused', 'have a name'),
    covered('ledger.test.ts', 'undefined is no message: a dead letter wherever it is told', 'not allow null messages'),
    absent(
      'the process has an uptime, threads and an address',
      'report its uptime',
      'have a working thread factory',
      'be able to run Futures',
      'return default address',
    ),
    absent('the root is spawned with the options of any actor', 'use a custom mailbox type for the user guardian'),
  ),
  GuardianStartupSpec: suite(
    kept('get a message sent to it early', 'have its shutdown hook run on immediate shutdown (after start)'),
    absent('there is no classic system below', 'not start before classic system initialization is complete'),
  ),
}
