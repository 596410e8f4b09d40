// Processes that a daemon may have left behind, identified by its directory.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The command lines of live processes that contain the directory or run in it. */
export function processesOf(directory: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const found = pids.map((pid) => ({
    pid,
    command: read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
  }))
  const own = found.filter(
    ({ pid, command }) =>
      command.includes(directory) || read(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(directory),
  )
  return own.map(({ pid, command }) => `${pid} ${command.replaceAll('\0', ' ').trim()}`)
}

/** A process may end at any time, or belong to another user. */
function read(look: () => string): string {
  try {
    return look()
  } catch {
    return ''
  }
}
