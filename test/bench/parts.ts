// The parts of the benchmark in their order.
import { measureApi } from './api.ts'
import type { Bench } from './bench.ts'
import { measureDashboard } from './dashboard.ts'
import { measureLog } from './dashboard-log.ts'
import { measureEdge } from './edge.ts'
import type { Figure } from './figure.ts'
import { measureMemory } from './memory.ts'
import { measureStart } from './start.ts'
import { measureStrangers } from './strangers.ts'

export const parts = {
  api: measureApi,
  edge: measureEdge,
  start: measureStart,
  strangers: measureStrangers,
  memory: measureMemory,
  dashboard: measureDashboard,
  log: measureLog,
} satisfies Record<string, (bench: Bench) => Promise<Figure[]>>

export type PartName = keyof typeof parts

export const partNames = Object.keys(parts) as PartName[]

export function isPartName(name: string): name is PartName {
  return Object.hasOwn(parts, name)
}
