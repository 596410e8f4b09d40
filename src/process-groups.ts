// Programs that the daemon runs in process groups of their own. A group ends with the deploy it works for,
// also if the daemon was killed: then by a marker in its environment, as a process id may be reused.
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Names the deploy that a process works for. */
export const markerVariable = 'BERTH_GIT_MARKER'

export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid)
}

/** The daemon may be protected from the kernel's out-of-memory killer; a large clone or build must not be. */
export function dropOomProtection(child: ChildProcess): void {
  try {
    const protection = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))
    if (protection < 0) writeFileSync(`/proc/${child.pid}/oom_score_adj`, '0')
  } catch {
    // It has already ended, or this system has no such file.
  }
}

const maxRounds = 200
const roundMs = 10

/** Resolves with their number when none is left. Repeats its search: a process may start another one. */
export async function reapProcesses(marker: string): Promise<number> {
  const killed = new Set<number>()
  for (let round = 0; round < maxRounds; round++) {
    const pids = await findMarked(marker)
    if (pids.length === 0) break
    for (const pid of pids) {
      // One that leads a group ends with what it started, which may have another environment.
      kill(-pid)
      if (kill(pid)) killed.add(pid)
    }
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
