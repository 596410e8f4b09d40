// The clock: whether something keeps it right, and whether it went back.
import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { duration } from '../quantities.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const keepers = ['chronyd', 'ntpd', 'ntpd-rs', 'openntpd', 'systemd-timesyn']
const toleranceMs = 60_000

export async function checkClock({ config }: Examined, signal: AbortSignal): Promise<Finding[] | string> {
  const now = Date.now()
  const written = await stat(join(config['data-dir'], 'store/data.mdb')).catch(() => null)
  const ahead = written === null ? 0 : written.mtimeMs - now
  const keeper = await findKeeper()
  const state = await synchronized(signal)
  const found = [
    ...(ahead > toleranceMs ? [finding('clock_behind', { by: duration(ahead) })] : []),
    ...(state === 'no' ? [finding('clock_unsynchronized')] : []),
    ...(state === null && keeper === null ? [finding('clock_unkept')] : []),
  ]
  return found.length > 0 ? found : `${new Date(now).toISOString()}, kept by ${keeper ?? 'NTP'}`
}

/** `yes` or `no`; null without systemd. */
async function synchronized(signal: AbortSignal): Promise<string | null> {
  const asking = promisify(execFile)('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'], { signal })
  return asking.then(
    ({ stdout }) => stdout.trim() || null,
    () => null,
  )
}

async function findKeeper(): Promise<string | null> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim()
    if (keepers.includes(name)) return name
  }
  return null
}
