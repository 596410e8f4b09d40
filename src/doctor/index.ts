// Runs all checks at the same time, each within its own limit: what hangs is a finding itself.
import { settleWithin } from '../async/settle-within.ts'
import { messageOf } from '../errors.ts'
import { duration } from '../quantities.ts'
import { checkActors } from './actors.ts'
import { checkBackups } from './backups.ts'
import { checkBuilds } from './builds.ts'
import { checkClock } from './clock.ts'
import { checkDisk } from './disk.ts'
import { checkDns } from './dns.ts'
import { checkDocker } from './docker.ts'
import { checkEdge } from './edge.ts'
import type { Check, Examined } from './examined.ts'
import { checkFiles } from './files.ts'
import { type Finding, finding, good } from './finding.ts'
import { checkFirewall } from './firewall.ts'
import { checkLogs } from './logs.ts'
import { checkMemory } from './memory.ts'
import { checkNode } from './node.ts'
import { checkPorts } from './ports.ts'
import { checkProcess } from './process.ts'
import { checkStore } from './store.ts'
import { checkSubnet } from './subnet.ts'

export const checks: readonly Check[] = [
  { name: 'process', look: checkProcess },
  { name: 'node', look: checkNode },
  { name: 'files', look: checkFiles },
  { name: 'store', look: checkStore },
  { name: 'disk', look: checkDisk },
  { name: 'memory', look: checkMemory },
  { name: 'clock', look: checkClock },
  { name: 'docker', look: checkDocker },
  { name: 'builds', look: checkBuilds },
  { name: 'logs', look: checkLogs },
  { name: 'subnet', look: checkSubnet },
  { name: 'firewall', look: checkFirewall },
  { name: 'ports', look: checkPorts },
  { name: 'edge', look: checkEdge },
  { name: 'dns', look: checkDns },
  { name: 'backups', look: checkBackups },
  { name: 'actors', look: checkActors },
]

const limitMs = 10_000
/** Those that a former run left behind, as reads of a file system that is gone: no second one joins them. */
const running = new Set<string>()
const order = { problem: 0, warning: 1, good: 2 }

/** Never rejects. Problems first. */
export async function examine(
  examined: Examined,
  { chosen = checks, withinMs = limitMs } = {},
): Promise<Finding[]> {
  const found = await Promise.all(chosen.map((check) => run(check, examined, withinMs)))
  return found.flat().sort((a, b) => order[a.severity] - order[b.severity])
}

async function run({ name, look }: Check, examined: Examined, withinMs: number): Promise<Finding[]> {
  const late = [finding('check_timed_out', { check: name, limit: duration(withinMs) })]
  if (running.has(name)) return late
  running.add(name)
  const looking = look(examined, AbortSignal.timeout(withinMs))
    .then((found) => (typeof found === 'string' ? [good(name, found)] : found))
    .catch((error: unknown) => [finding('check_failed', { check: name, reason: messageOf(error) })])
    .finally(() => running.delete(name))
  return settleWithin(looking, withinMs, late)
}
