// The suite, in the order of the report.

import { cigaretteSmokers, diningPhilosophers, sleepingBarber } from './coordination.ts'
import { big, chameneos, counting, forkJoinCreate, forkJoinThroughput, pingPong, skynet, threadRing } from './micro.ts'
import { allPairsShortestPath, matrixMultiplication, piPrecision, trapezoid } from './numerics.ts'
import { filterBank, radixSort, sieve } from './pipelines.ts'
import { aStar, cobwebbedTree, facilityLocation, nQueens, overRelaxation, quicksort } from './search.ts'
import { bankTransaction, boundedBuffer, concurrentDictionary, concurrentSortedList, logisticMap } from './sharing.ts'
import type { Benchmark } from './stage.ts'

export const suite: readonly Benchmark[] = [
  pingPong,
  counting,
  forkJoinThroughput,
  forkJoinCreate,
  threadRing,
  chameneos,
  big,
  skynet,
  concurrentDictionary,
  concurrentSortedList,
  boundedBuffer,
  diningPhilosophers,
  sleepingBarber,
  cigaretteSmokers,
  logisticMap,
  bankTransaction,
  radixSort,
  filterBank,
  sieve,
  cobwebbedTree,
  facilityLocation,
  trapezoid,
  piPrecision,
  matrixMultiplication,
  quicksort,
  allPairsShortestPath,
  overRelaxation,
  aStar,
  nQueens,
]
