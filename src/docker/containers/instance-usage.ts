// What an instance uses right now. The engine's own CPU figure needs a wait of one to two seconds; two
// samples a quarter of a second apart give the same.
import type { Container, ContainerStats } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { type Engine, orNull } from '../engine/client.ts'

export interface InstanceUsage {
  /** 100 is one CPU used fully. */
  cpuPercent: number
  /** Without the page cache that the kernel can take back, as `docker stats` shows it. */
  memoryBytes: number
}

const sampleDistanceMs = 250

/** Null when the container is gone or does not run. */
export async function measureUsage(engine: Engine, container: Container): Promise<InstanceUsage | null> {
  const before = await sample(engine, container)
  if (before === null) return null
  await sleep(sampleDistanceMs)
  const after = await sample(engine, container)
  return after && { cpuPercent: cpuPercent(before, after), memoryBytes: memoryBytes(after) }
}

/** CPU time since its start, and memory; null when the container is gone or does not run. */
export async function readUsage(engine: Engine, container: Container) {
  const found = await sample(engine, container)
  if (found === null) return null
  return { cpuSeconds: found.cpu_stats.cpu_usage.total_usage / 1e9, memoryBytes: memoryBytes(found) }
}

async function sample(engine: Engine, container: Container): Promise<ContainerStats | null> {
  const stats = engine.call('read usage', () => container.stats({ stream: false, 'one-shot': true }))
  const found = await orNull(stats)
  return found?.memory_stats.usage === undefined ? null : found
}

function cpuPercent(before: ContainerStats, after: ContainerStats): number {
  const usedNs = after.cpu_stats.cpu_usage.total_usage - before.cpu_stats.cpu_usage.total_usage
  const passedMs = Date.parse(after.read) - Date.parse(before.read)
  return passedMs > 0 ? Math.max(0, (usedNs / 1e6 / passedMs) * 100) : 0
}

// The cache is called total_inactive_file by cgroup v1 and inactive_file by v2.
function memoryBytes({ memory_stats: memory }: ContainerStats): number {
  const cache = memory.stats.total_inactive_file ?? memory.stats.inactive_file ?? 0
  return Math.max(0, memory.usage - cache)
}
