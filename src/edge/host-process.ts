// HAProxy as a process of this host, for `--edge host`: started by the daemon, and not ended with it.
import { execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { sleep } from '../async/sleep.ts'
import { Failure, messageOf } from '../errors.ts'
import type { Place } from './files.ts'
import { environmentOf } from './generations.ts'
import { openRuntime } from './runtime.ts'
import { readWorkers } from './workers.ts'

export interface EdgeProcess {
  /**
   * Resolves when it serves; one that serves already is left alone. A new one takes the listening sockets of
   * `former`. Throws `edge_unavailable` with why.
   */
  ensure(signal: AbortSignal, former?: Place | null): Promise<void>
  /** Ends it. Not there is fine. */
  stop(): Promise<void>
}

/** Of Debian and others: `nobody`. */
const nobody = { uid: 65_534, gid: 65_534 }

/** The user of the worker when root starts HAProxy: `haproxy`, or `nobody`. */
export function workerUser(passwd = readFileSync('/etc/passwd', 'utf8')) {
  if (process.getuid?.() !== 0) return null
  const [, uid, gid] = /^haproxy:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : nobody
}

const startMs = 10_000
/** One that is there may be busy with a reload, or hang. */
const patienceMs = 5_000
const lookAgainMs = 25

export function openHostProcess(place: Place): EdgeProcess {
  return {
    async ensure(signal, former = null) {
      if (await servesWithin(place, isThere(place) ? patienceMs : 0, signal)) return
      await end(place)
      const child = start(place, former)
      if (await servesWithin(place, startMs, signal, child.hasEnded)) return
      throw new Failure('edge_unavailable', `HAProxy does not start: ${child.reason() ?? lastWords(place)}`)
    },
    stop: () => end(place),
  }
}

/** The version of the program that a start would run. Throws `edge_unavailable` when there is none. */
export async function hostVersion(signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('haproxy', ['-v'], { signal })
    return /version (\S+)/.exec(stdout)?.[1] ?? ''
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure('edge_unavailable', `this host has no haproxy that runs: ${messageOf(error)}`)
  }
}

/** Looks again until it serves, the time is over, or `isOver` says that there is nothing to wait for. */
export async function servesWithin(
  place: Place,
  withinMs: number,
  signal: AbortSignal,
  isOver: () => boolean | Promise<boolean> = () => false,
): Promise<boolean> {
  for (const until = Date.now() + withinMs; ; ) {
    signal.throwIfAborted()
    if (await serves(place)) return true
    if (Date.now() >= until || (await isOver())) return false
    await sleep(lookAgainMs)
  }
}

/** Whether its worker takes commands, and so has its ports open; and its master too. */
export async function serves(place: Place): Promise<boolean> {
  try {
    const shown = await openRuntime(place.adminSocket).ask('show info')
    return shown.includes('Pid:') && (await readWorkers(openRuntime(place.masterSocket))).current !== null
  } catch {
    return false
  }
}

function start(place: Place, former: Place | null) {
  const output = openSync(place.output, 'w', 0o600)
  const sockets = ['-S', `${place.masterSocket},mode,600`, '-p', place.pidFile]
  const handover = former ? ['-x', former.adminSocket] : []
  let reason: string | null = null
  let isEnded = false
  // A group of its own: what ends the daemon's does not end this.
  const child = spawn('haproxy', ['-W', ...sockets, ...handover, '-f', place.configuration], {
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    env: { ...process.env, ...environmentOf(place) },
  })
  closeSync(output)
  child.once('error', (error: NodeJS.ErrnoException) => {
    isEnded = true
    reason = error.code === 'ENOENT' ? 'this host has no haproxy (apt-get install haproxy)' : error.message
  })
  child.once('exit', () => {
    isEnded = true
  })
  child.unref()
  return { hasEnded: () => isEnded, reason: () => reason }
}

/** The alerts of a start that failed, or all that it said. */
export function lastWords(place: Pick<Place, 'output'>): string {
  try {
    return alertsIn(readFileSync(place.output, 'utf8'))
  } catch {
    return 'it says nothing'
  }
}

/** Why it could not open a port, in words of ours. */
const refusals: Record<string, string> = {
  'Address already in use': 'is taken by another program',
  'Permission denied': 'may not be opened by this user',
}

export function alertsIn(output: string): string {
  const lines = output.trim().split('\n')
  const alerts = lines.filter((line) => line.includes('[ALERT]'))
  const ports = alerts.flatMap((line) => {
    const [, refusal = '', port] = /cannot bind socket \(([^)]+)\) for \[.*:(\d+)\]/.exec(line) ?? []
    return refusals[refusal] ? [`port ${port} ${refusals[refusal]}`] : []
  })
  const others = 'see --http-port and --https-port'
  if (ports.length > 0) return `${[...new Set(ports)].sort().join(', ')} (${others})`
  const shown = alerts.length > 0 ? alerts.slice(0, 3) : lines.slice(-3)
  return shown.map((line) => line.replace(/^\[\w+\]\s*\(\d+\)\s*:\s*/, '')).join('; ')
}

/** Only what has our configuration in its arguments: a number may be another process's by now. */
async function end(place: Place): Promise<void> {
  const master = openRuntime(place.masterSocket)
  const old = await readWorkers(master).catch(() => ({ current: null, old: [] }))
  for (const pid of [masterPid(place), old.current, ...old.old]) {
    if (pid !== null && isOurs(place, pid)) process.kill(pid, 'SIGKILL')
  }
}

function isThere(place: Place): boolean {
  const pid = masterPid(place)
  return pid !== null && isOurs(place, pid)
}

function masterPid({ pidFile }: Place): number | null {
  try {
    return Number(readFileSync(pidFile, 'utf8').split('\n')[0]) || null
  } catch {
    return null
  }
}

function isOurs({ configuration }: Place, pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(configuration)
  } catch {
    return false
  }
}
