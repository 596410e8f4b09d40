// Ends git processes that a killed daemon left behind. They are identified by a marker in their environment,
// which git's helpers inherit; a process id alone may have been reused.
import { readdir, readFile } from 'node:fs/promises'
import { sleep } from '../async/sleep.ts'
import { markerVariable } from './environment.ts'

const maxRounds = 200
const roundMs = 10

/**
 * Kills every process with this marker and resolves with their number when none is left. It searches
 * repeatedly, because a process may start another one in between.
 */
export async function reapGit(marker: string): Promise<number> {
  const killed = new Set<number>()
  for (let round = 0; round < maxRounds; round++) {
    const pids = await findMarked(marker)
    if (pids.length === 0) break
    for (const pid of pids) if (kill(pid)) killed.add(pid)
    await sleep(roundMs)
  }
  return killed.size
}

async function findMarked(marker: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const marked = await Promise.all(
    pids.map(async (pid) => pid !== process.pid && (await carries(pid, marker))),
  )
  return pids.filter((_, index) => marked[index])
}

/** A zombie process has an empty environment and does not count. */
async function carries(pid: number, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  return environment.split('\0').includes(`${markerVariable}=${marker}`)
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
