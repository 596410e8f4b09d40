// The task that remains when an engine is killed while it starts a container: containerd has created the
// process, Docker reports the container as "created", and each further start is refused. The shim that holds
// the task is found in /proc. With an engine on another machine no shim is found, and nothing is ended.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'

/** The state: no task; a task whose command never started; one whose command runs, or has run. */
export type StaleTask = 'none' | 'waiting' | 'begun'

interface Process {
  parent: number
  state: string
  /** The name of its program, at most 15 bytes. */
  name: string
}

const stoppedStates = 'TtZX'
const stopTries = 100
const stopEveryMs = 10

/** Whether the engine refused a start because containerd still holds an earlier task of the container. */
export function isTaskLeft(error: unknown): boolean {
  return /^task \S+: already exists$|^id already in use$/.test(messageOf(error))
}

/** Whether containerd holds a task of the container. */
export async function hasTask(containerId: string): Promise<boolean> {
  return (await findShims(containerId, await allPids())).length > 0
}

/**
 * Ends the task of a container that is not running according to Docker, and the shim that holds the task.
 * The restarted engine itself ends the tasks that it has recorded as running.
 */
export async function endStaleTask(containerId: string): Promise<StaleTask> {
  const pids = await allPids()
  let task: StaleTask = 'none'
  for (const shim of await findShims(containerId, pids)) {
    const hasStarted = await endChildren(shim, pids)
    kill(shim, 'SIGKILL')
    if (task !== 'begun') task = hasStarted ? 'begun' : 'waiting'
  }
  return task
}

async function allPids(): Promise<number[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number)
}

async function findShims(containerId: string, pids: number[]): Promise<number[]> {
  const shims: number[] = []
  for (const pid of pids) if (await isShimOf(pid, containerId)) shims.push(pid)
  return shims
}

async function isShimOf(pid: number, containerId: string): Promise<boolean> {
  const argv = (await readOrNull(`/proc/${pid}/cmdline`))?.split('\0') ?? []
  if (!basename(argv[0] ?? '').startsWith('containerd-shim')) return false
  // The same program starts a shim and cleans up after one.
  if (argv.includes('start') || argv.includes('delete')) return false
  return argv[argv.indexOf('-id') + 1] === containerId
}

/**
 * Kills the shim's child processes. Returns whether the task's command has started; also true if its first
 * process no longer exists.
 */
async function endChildren(shim: number, pids: number[]): Promise<boolean> {
  const init = await findInit(shim)
  let hasStarted = init !== null
  for (const pid of new Set(init === null ? pids : [...pids, init])) {
    if ((await look(pid))?.parent !== shim) continue
    const stopped = await stop(pid)
    if (pid === init && stopped && cannotBegin(stopped)) hasStarted = false
    kill(pid, 'SIGKILL')
  }
  return hasStarted
}

/** The first process of the task, as its runtime recorded it; null if there is no record. */
async function findInit(shim: number): Promise<number | null> {
  const bundle = await readlink(`/proc/${shim}/cwd`).catch(() => null)
  const text = bundle && (await readOrNull(join(bundle, 'init.pid')))
  return text ? Number(text) : null
}

/**
 * Whether the command can no longer start. Until the command starts, the first process of a task is runc's.
 * That process must be stopped or dead.
 */
function cannotBegin({ name, state }: Process): boolean {
  return name.startsWith('runc') && stoppedStates.includes(state)
}

/**
 * Stops the process, so that it cannot start the command between the check and the kill. Null if the process
 * no longer exists.
 */
async function stop(pid: number): Promise<Process | null> {
  kill(pid, 'SIGSTOP')
  for (let tries = 1; ; tries++) {
    const process = await look(pid)
    if (process === null || stoppedStates.includes(process.state) || tries === stopTries) return process
    await sleep(stopEveryMs)
  }
}

async function look(pid: number): Promise<Process | null> {
  const text = await readOrNull(`/proc/${pid}/stat`)
  const fields = text && /^\d+ \((.*)\) (\S) (\d+) /s.exec(text)
  return fields ? { name: fields[1]!, state: fields[2]!, parent: Number(fields[3]) } : null
}

/** A missing process is fine. Without root nothing is ended, and the engine refuses the start again. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH') && !hasCode(error, 'EPERM')) throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Null when the process has ended. */
function readOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
