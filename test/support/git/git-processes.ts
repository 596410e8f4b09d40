// The git processes that carry a marker, read from the kernel.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** The command lines of the live processes with the marker, sorted. */
export function gitProcesses(marker: string): string[] {
  return markedPids(marker)
    .map((pid) => read(pid, 'cmdline').replaceAll('\0', ' ').trim())
    .sort()
}

/** Suspends them, so that they cannot end on their own, for example by writing progress to a dead daemon. */
export function stopGitProcesses(marker: string): void {
  for (const pid of markedPids(marker)) process.kill(Number(pid), 'SIGSTOP')
}

function markedPids(marker: string): string[] {
  const entry = `BERTH_GIT_MARKER=${marker}`
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => read(pid, 'environ').split('\0').includes(entry))
}

/** Waits until the marked processes satisfy the test. */
export async function untilGitProcesses(
  marker: string,
  isMet: (commands: string[]) => boolean,
  deadlineMs = 20_000,
): Promise<string[]> {
  const until = performance.now() + deadlineMs
  for (;;) {
    const commands = gitProcesses(marker)
    if (isMet(commands)) return commands
    if (performance.now() > until)
      throw new Error(`git processes stayed as they are: ${JSON.stringify(commands)}`)
    await wait(20)
  }
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
