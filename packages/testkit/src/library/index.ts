// The library of scenarios that Troupe is simulated with: by `npm run sim`, by its tests and by the mutation proof.

import { adapters } from './adapters.ts'
import { askCycles } from './ask-cycles.ts'
import { boundedMailboxes } from './bounded-mailboxes.ts'
import { channels } from './channels.ts'
import { classActors } from './class-actors.ts'
import { crowd } from './crowd.ts'
import { deadlines } from './deadlines.ts'
import { errands } from './errands.ts'
import { escalation } from './escalation.ts'
import { familyRestarts } from './family-restarts.ts'
import { floods } from './floods.ts'
import { groupRestarts } from './group-restarts.ts'
import { guards } from './guards.ts'
import { keptChildren } from './kept-children.ts'
import { lifecycleStorm } from './lifecycle-storm.ts'
import { limits } from './limits.ts'
import { mergedRestarts } from './merged-restarts.ts'
import { misuse } from './misuse.ts'
import { movingMessages } from './moving-messages.ts'
import { observers } from './observers.ts'
import { priorities } from './priorities.ts'
import { rankedOverflow } from './ranked-overflow.ts'
import { routers } from './routers.ts'
import type { LibraryScenario } from './scenario.ts'
import { selects } from './selects.ts'
import { shutdownAnyMoment } from './shutdown-any-moment.ts'
import { siblingRefs } from './sibling-refs.ts'
import { silences } from './silences.ts'
import { startsAndStops } from './starts-and-stops.ts'
import { stashUnderFailure } from './stash-under-failure.ts'
import { streams } from './streams.ts'
import { subscriptions } from './subscriptions.ts'
import { supervisorRequests } from './supervisor-requests.ts'
import { supervisorTrees } from './supervisor-trees.ts'
import { suspension } from './suspension.ts'
import { taskGroups } from './task-groups.ts'
import { timersAndRestarts } from './timers-and-restarts.ts'
import { watchRaces } from './watch-races.ts'
import { wideEnds } from './wide-ends.ts'

export type { LibraryScenario }

export const library: readonly LibraryScenario[] = [
  lifecycleStorm,
  groupRestarts,
  watchRaces,
  askCycles,
  stashUnderFailure,
  timersAndRestarts,
  movingMessages,
  suspension,
  shutdownAnyMoment,
  escalation,
  keptChildren,
  streams,
  classActors,
  channels,
  boundedMailboxes,
  routers,
  adapters,
  deadlines,
  floods,
  guards,
  limits,
  misuse,
  observers,
  priorities,
  silences,
  startsAndStops,
  supervisorTrees,
  selects,
  taskGroups,
  subscriptions,
  rankedOverflow,
  mergedRestarts,
  familyRestarts,
  errands,
  crowd,
  siblingRefs,
  supervisorRequests,
  wideEnds,
]
