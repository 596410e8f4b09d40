// The processes of this machine, including those in containers, to prove that one has ended.
import { readdir, readFile } from 'node:fs/promises'

/** The ids of the processes with exactly this command line. */
export function findProcesses(command: string): Promise<string[]> {
  return processesWith((line) => line === command)
}

/** The same for a part of the command line. */
export function findProcessesWith(part: string): Promise<string[]> {
  return processesWith((line) => line.includes(part))
}

async function processesWith(fits: (line: string) => boolean): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commandOf = async (pid: string) => {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return text.replaceAll('\0', ' ').trim()
  }
  const commands = await Promise.all(pids.map(commandOf))
  return pids.filter((_, index) => fits(commands[index]!))
}
