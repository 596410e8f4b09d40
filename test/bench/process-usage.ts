// The resources used by a process, from the kernel, without involving the process.
import { readFileSync } from 'node:fs'

/** The kernel's clock ticks per second, the same on every Linux that Node supports. */
const ticksPerSecond = 100
const kibibytesPerMegabyte = 1024

/** All threads, in user and kernel mode. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / kibibytesPerMegabyte
}
