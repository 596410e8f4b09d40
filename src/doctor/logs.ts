// Where containers log to, and whether that is bounded.
import { readFile } from 'node:fs/promises'
import { withSignal } from '../docker/engine/client.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

/** Drivers from which the engine reads logs back. */
const readable = ['json-file', 'local', 'journald']

export async function checkLogs({ engine }: Examined, signal: AbortSignal): Promise<Finding[] | string> {
  const { call, docker, host } = engine
  const bounds = { timeoutMs: 5_000, signal }
  const info = await call('info', (bound) => withSignal(docker, docker.info, bound), bounds).catch(() => null)
  if (info === null) return 'unknown: the engine does not respond'
  const driver: string = info.LoggingDriver
  if (!readable.includes(driver)) return [finding('logs_unreadable', { driver })]
  const settings = host.startsWith('unix:')
    ? await readFile('/etc/docker/daemon.json', 'utf8').catch(() => '')
    : null
  const isBounded = driver !== 'json-file' || settings === null || /"max-size"/.test(settings)
  return isBounded ? `log driver ${driver}` : [finding('foreign_logs_unbounded')]
}
