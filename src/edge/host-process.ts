// HAProxy as a process of this host, for `--edge host`: started by the daemon, and not stopped with it.
import { execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { sleep } from '../async/sleep.ts'
import { Failure, messageOf } from '../errors.ts'
import type { EdgeFiles } from './files.ts'
import { environmentOf } from './generations.ts'
import { openRuntime, readWorkers } from './runtime.ts'

export interface EdgeProcess {
  /** A serving process stays. A new one takes over `former`'s sockets. Throws `edge_unavailable`. */
  ensure(signal: AbortSignal, former?: EdgeFiles | null): Promise<void>
  /** Stops it. Does nothing if it is not running. */
  stop(): Promise<void>
}

/** User and group `nobody` of Debian and other distributions. */
const nobody = { uid: 65_534, gid: 65_534 }

/** The user of the worker when root starts HAProxy: `haproxy`, or `nobody`. */
export function workerUser(passwd = readFileSync('/etc/passwd', 'utf8')) {
  if (process.getuid?.() !== 0) return null
  const [, uid, gid] = /^haproxy:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : nobody
}

const startMs = 10_000
/** A running process may be busy with a reload, or hang. */
const timeoutMs = 5_000
const recheckIntervalMs = 25

export function openHostProcess(files: EdgeFiles): EdgeProcess {
  return {
    async ensure(signal, previous = null) {
      if (await servesWithin(files, isThere(files) ? timeoutMs : 0, signal)) return
      await end(files)
      const child = start(files, previous)
      if (await servesWithin(files, startMs, signal, child.hasEnded)) return
      throw new Failure('edge_unavailable', `HAProxy does not start: ${child.reason() ?? lastOutput(files)}`)
    },
    stop: () => end(files),
  }
}

/** The version of the binary that a start would run. Throws `edge_unavailable` if it is missing. */
export async function hostVersion(signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('haproxy', ['-v'], { signal })
    return /version (\S+)/.exec(stdout)?.[1] ?? ''
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure('edge_unavailable', `this host has no working haproxy: ${messageOf(error)}`)
  }
}

/** Polls until HAProxy serves, the time is over, or `hasEnded` returns true. */
export async function servesWithin(
  files: EdgeFiles,
  withinMs: number,
  signal: AbortSignal,
  hasEnded: () => boolean | Promise<boolean> = () => false,
): Promise<boolean> {
  for (const until = Date.now() + withinMs; ; ) {
    signal.throwIfAborted()
    if (await serves(files)) return true
    if (Date.now() >= until || (await hasEnded())) return false
    await sleep(recheckIntervalMs)
  }
}

/** Whether its worker accepts commands, and so has its ports open, and its master responds. */
export async function serves(files: EdgeFiles): Promise<boolean> {
  try {
    const info = await openRuntime(files.adminSocket).ask('show info')
    return info.includes('Pid:') && (await readWorkers(openRuntime(files.masterSocket))).current !== null
  } catch {
    return false
  }
}

function start(files: EdgeFiles, previous: EdgeFiles | null) {
  const output = openSync(files.output, 'w', 0o600)
  const sockets = ['-S', `${files.masterSocket},mode,600`, '-p', files.pidFile]
  const handover = previous ? ['-x', previous.adminSocket] : []
  let reason: string | null = null
  let isEnded = false
  // In its own process group, so that a signal to the daemon's group does not end it.
  const child = spawn('haproxy', ['-W', ...sockets, ...handover, '-f', files.configuration], {
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    env: { ...process.env, ...environmentOf(files) },
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

/** The alerts of a failed start, or else its whole output. */
export function lastOutput(files: Pick<EdgeFiles, 'output'>): string {
  try {
    return alertsIn(readFileSync(files.output, 'utf8'))
  } catch {
    return 'no output'
  }
}

/** Messages for the reasons why HAProxy cannot open a port. */
const refusals: Record<string, string> = {
  'Address already in use': 'is in use by another program',
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
  const excerpt = alerts.length > 0 ? alerts.slice(0, 3) : lines.slice(-3)
  return excerpt.map((line) => line.replace(/^\[\w+\]\s*\(\d+\)\s*:\s*/, '')).join('; ')
}

/** Only a process with our configuration in its arguments: the pid may have been reused. */
async function end(files: EdgeFiles): Promise<void> {
  const master = openRuntime(files.masterSocket)
  const old = await readWorkers(master).catch(() => ({ current: null, old: [] }))
  for (const pid of [masterPid(files), old.current, ...old.old]) {
    if (pid !== null && isOurs(files, pid)) process.kill(pid, 'SIGKILL')
  }
}

function isThere(files: EdgeFiles): boolean {
  const pid = masterPid(files)
  return pid !== null && isOurs(files, pid)
}

function masterPid({ pidFile }: EdgeFiles): number | null {
  try {
    return Number(readFileSync(pidFile, 'utf8').split('\n')[0]) || null
  } catch {
    return null
  }
}

function isOurs({ configuration }: EdgeFiles, pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(configuration)
  } catch {
    return false
  }
}
