// Which options a system knows, and what each may be. What depends on others is checked by whoever uses it.

import { deadlockModes } from '../cell/ask/deadlock.ts'
import { checkMeasuring, checkMiddleware } from '../cell/context/options.ts'
import { defaultPolicy, ownPolicyOf } from '../deciders/supervision.ts'
import {
  any,
  can,
  checkBoolean,
  checkCan,
  checkFinite,
  checkList,
  checkMethods,
  checkObject,
  checkOneOf,
  checkPart,
  checkWhole,
  readOptions,
  type Table,
} from '../values/checks.ts'
import type { LevelledLogger } from '../values/logger.ts'
import { Measuring } from '../values/measuring.ts'
import { InvalidOption } from '../values/errors.ts'
import type { DispatcherOptions, Extension, SystemOptions } from '../values/options.ts'
import type { Supervision } from '../values/policy.ts'

type Pushing = Exclude<SystemOptions['metrics'], Measuring | false | undefined>

const dispatcherTable: Table<DispatcherOptions> = { throughput: [checkWhole, 1], slice: [checkFinite, 'above'], maxTurns: [checkWhole, 1] }

export function checkDispatcher(option: string, value: unknown): DispatcherOptions {
  return checkPart(option, value, dispatcherTable)
}

/** Something with a name each. */
function checkEach(option: string, value: unknown, check: (option: string, value: unknown) => unknown): unknown {
  checkObject(option, value)
  return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, check(`${option}.${name}`, one)]))
}

function checkLogger(option: string, value: unknown): unknown {
  return value === false ? value : checkMethods<LevelledLogger>(option, value, ['debug', 'info', 'warn', 'error'], ['isLevelEnabled', 'child'])
}

function checkExtensions(option: string, value: unknown): unknown {
  const list = checkList<Extension>(option, value, (one) => can(one, 'open'), 'extensions, such as persistence(…)')
  for (const { name } of list) if (list.filter((other) => other.name === name).length > 1) throw new InvalidOption(option, name, 'one of a name')
  return list
}

/** What each option of a system may be, as far as that can be told from it alone. */
export const systemTable: Table<SystemOptions> = {
  root: any,
  logger: checkLogger,
  supervision: (option, value) => ownPolicyOf(value as Supervision, defaultPolicy, option),
  askTimeout: [checkFinite, 'above'],
  deadlock: [checkOneOf, deadlockModes],
  dispatcher: checkDispatcher,
  dispatchers: [checkEach, checkDispatcher],
  runtime: any,
  runtimes: any,
  keepAlive: checkBoolean,
  deadLetterCapacity: [checkWhole, 0],
  failureCapacity: [checkWhole, 0],
  onEscalation: [checkOneOf, ['shutdown', 'stop']],
  middleware: checkMiddleware,
  metrics: (option, value) =>
    typeof value === 'object' && !(value instanceof Measuring)
      ? checkPart<Pushing>(option, value, { every: [checkFinite, 'above', true], actors: checkMeasuring })
      : checkMeasuring(option, value),
  extensions: checkExtensions,
  flightRecorder: [checkCan, ['flightRecorder()', 'open']],
}

/** Fails with `InvalidOption` on the first option that is wrong, or that no system knows. */
export function checkOptions<R>(options: SystemOptions<R>): SystemOptions<R> {
  return readOptions('ActorSystem.create', options, systemTable as Table<SystemOptions<R>>)
}
