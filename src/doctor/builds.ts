// Whether builds are limited, and whether the engine's BuildKit works.
import { existsSync } from 'node:fs'
import { buildsSocket } from '../docker/build/build-guard.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'
import { userOf } from './process.ts'

export async function checkBuilds({ config, live, pid }: Examined): Promise<Finding[] | string> {
  const reason = live ? live.buildsReason : await reasonOnHost(config.docker, pid)
  const since = live?.builderHangsSince
  const found = [
    ...(since ? [finding('builder_hangs', { since })] : []),
    ...(reason === null ? [] : [finding('builds_unlimited', { reason })]),
  ]
  const { 'build-memory-limit': memory, 'build-cpu-limit': cpus, 'build-pids-limit': pids } = config
  return found.length > 0 ? found : `all builds together: ${memory} MiB, ${cpus} CPUs, ${pids} processes`
}

async function reasonOnHost(engine: string, pid: number | null): Promise<string | null> {
  if (!engine.startsWith('unix://')) return 'the engine may run on another machine'
  const user = pid === null ? null : await userOf(pid)
  const isGuarded = user === null || user === 0 || existsSync(buildsSocket)
  return isGuarded ? null : `berthd does not run as root, and there is no ${buildsSocket}`
}
