// The task that a killed engine leaves when it dies while it starts a container: containerd has made the
// process, Docker calls the container "created", and each further start is refused. The shim that holds the
// task is found in /proc. An engine of another machine shows no shim: then nothing is known, nothing ended.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'

/** What was found: nothing; a task whose command never began; one whose command runs, or has run. */
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
  return (await shimsOf(containerId, await allPids())).length > 0
}

/**
 * Ends the task of a container that Docker says does not run, and the shim that holds it. What Docker knows
 * to run the engine ends by itself when it comes back.
 */
export async function endStaleTask(containerId: string): Promise<StaleTask> {
  const pids = await allPids()
  let found: StaleTask = 'none'
  for (const shim of await shimsOf(containerId, pids)) {
    const hasBegun = await endChildren(shim, pids)
    kill(shim, 'SIGKILL')
    if (found !== 'begun') found = hasBegun ? 'begun' : 'waiting'
  }
  return found
}

async function allPids(): Promise<number[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number)
}

async function shimsOf(containerId: string, pids: number[]): Promise<number[]> {
  const shims: number[] = []
  for (const pid of pids) if (await isShimOf(pid, containerId)) shims.push(pid)
  return shims
}

async function isShimOf(pid: number, containerId: string): Promise<boolean> {
  const argv = (await readOrNull(`/proc/${pid}/cmdline`))?.split('\0') ?? []
  if (!basename(argv[0] ?? '').startsWith('containerd-shim')) return false
  // The same program starts a shim and clears away after one.
  if (argv.includes('start') || argv.includes('delete')) return false
  return argv[argv.indexOf('-id') + 1] === containerId
}

/** Answers whether the command of the task has begun. One that is not there any more may have. */
async function endChildren(shim: number, pids: number[]): Promise<boolean> {
  const init = await initOf(shim)
  let hasBegun = init !== null
  for (const pid of new Set(init === null ? pids : [...pids, init])) {
    if ((await look(pid))?.parent !== shim) continue
    const stopped = await stop(pid)
    if (pid === init && stopped && cannotBegin(stopped)) hasBegun = false
    kill(pid, 'SIGKILL')
  }
  return hasBegun
}

/** The first process of the task, as its runtime wrote it down; null when none was made. */
async function initOf(shim: number): Promise<number | null> {
  const bundle = await readlink(`/proc/${shim}/cwd`).catch(() => null)
  const text = bundle && (await readOrNull(join(bundle, 'init.pid')))
  return text ? Number(text) : null
}

/** The first process of a task is runc's until the command begins. It must be stopped, or dead. */
function cannotBegin({ name, state }: Process): boolean {
  return name.startsWith('runc') && stoppedStates.includes(state)
}

/** What is stopped begins nothing between a look and its end. Null when it is gone. */
async function stop(pid: number): Promise<Process | null> {
  kill(pid, 'SIGSTOP')
  for (let tries = 1; ; tries++) {
    const found = await look(pid)
    if (found === null || stoppedStates.includes(found.state) || tries === stopTries) return found
    await sleep(stopEveryMs)
  }
}

async function look(pid: number): Promise<Process | null> {
  const text = await readOrNull(`/proc/${pid}/stat`)
  const fields = text && /^\d+ \((.*)\) (\S) (\d+) /s.exec(text)
  return fields ? { name: fields[1]!, state: fields[2]!, parent: Number(fields[3]) } : null
}

/** It may be gone. A daemon that is not root ends nothing: then the engine refuses the start once more. */
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

/** A process may end while it is looked at. */
function readOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
