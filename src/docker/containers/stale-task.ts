// The task that remains when an engine is killed while it starts a container: containerd has the process,
// Docker reports the container as "created", and the engine refuses each further start. If the container is
// removed, the process stays, and with it the address of the container, which the next one then shares.
// Docker has no request that ends such a task, so its processes are ended here. This needs root and an engine
// on this machine.
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { messageOf } from '../../errors.ts'

/** Whether the engine refused a start because containerd still holds an earlier task of the container. */
export function isTaskLeft(error: unknown): boolean {
  return /^task \S+: already exists$|^id already in use$/.test(messageOf(error))
}

/** Kills the processes of the task, then the shim that holds it. */
export async function endStaleTask(containerId: string): Promise<void> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const commandLines = await Promise.all(pids.map((pid) => readOrEmpty(`/proc/${pid}/cmdline`)))
  for (const shim of pids.filter((_, index) => isShimOf(containerId, commandLines[index]!))) {
    const parents = await Promise.all(pids.map(parentOf))
    for (const pid of pids.filter((_, index) => parents[index] === shim)) kill(pid)
    kill(shim)
  }
}

async function parentOf(pid: string): Promise<string | undefined> {
  return /^\d+ \(.*\) \S (\d+) /s.exec(await readOrEmpty(`/proc/${pid}/stat`))?.[1]
}

/** The same program starts a shim and cleans up after one. */
function isShimOf(containerId: string, commandLine: string): boolean {
  const argv = commandLine.split('\0')
  const isShim = basename(argv[0] ?? '').startsWith('containerd-shim')
  const isHelper = argv.includes('start') || argv.includes('delete')
  return isShim && !isHelper && argv[argv.indexOf('-id') + 1] === containerId
}

function kill(pid: string): void {
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch {
    // It has ended, or this daemon is not root; then the engine refuses the start again.
  }
}

function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
