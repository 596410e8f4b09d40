// What an instance uses right now. The engine's own CPU figure needs a wait of one to two seconds; two
// samples a quarter of a second apart give the same.
import type { Container, ContainerStats } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { codeOf } from '../../errors.ts'
import { type Engine, orNull } from '../engine/client.ts'
import { instanceKind, labelFilter, labels, type Owner, ownerFilter } from '../engine/names.ts'

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
async function readUsage(engine: Engine, container: Container) {
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

export interface InstanceSample {
  containerId: string
  serviceId: string
  deployId: string
  /** Null if it cannot be read, for example because the container has ended. */
  usage: { cpuSeconds: number; memoryBytes: number } | null
}

/** Docker 20.10 samples all requested containers once a second, so each call takes up to a second. */
const parallel = 32

/** Throws `docker_unavailable`, at the first call without an answer. */
export async function sampleInstances(engine: Engine, owner: Owner): Promise<InstanceSample[]> {
  const label = [...ownerFilter(owner), ...labelFilter({ [labels.kind]: instanceKind })]
  const containers = await engine.call('list running instances', (abortSignal) =>
    engine.docker.listContainers({ filters: { label, status: ['running'] }, abortSignal }),
  )
  const samples: InstanceSample[] = []
  const queue = containers.values()
  const work = async () => {
    for (const { Id: containerId, Labels } of queue) {
      const usage = await readUsage(engine, engine.docker.getContainer(containerId)).catch(nullIfUnavailable)
      const about = { serviceId: Labels[labels.serviceId] ?? '', deployId: Labels[labels.id] ?? '' }
      samples.push({ containerId, ...about, usage })
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return samples
}

function nullIfUnavailable(error: unknown): null {
  if (codeOf(error) === 'docker_unavailable') throw error
  return null
}
