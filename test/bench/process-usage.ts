// What a process has used so far, as the kernel counts it: nothing has to be asked of the process itself.
import { readFileSync, writeFileSync } from 'node:fs'

/** The kernel's clock ticks, which are the same on every Linux that Node runs on. */
const ticksPerSecond = 100
const kibibytesPerMegabyte = 1024

/** Of all its threads, in user and kernel mode. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in parentheses, and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export function residentMegabytes(pid: number): number {
  return statusMegabytes(pid, 'VmRSS')
}

/** Since its start, or since `forgetPeak`. */
export function peakMegabytes(pid: number): number {
  return statusMegabytes(pid, 'VmHWM')
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function statusMegabytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? []
  if (kibibytes === undefined) throw new Error(`process ${pid} has no ${field}`)
  return Number(kibibytes) / kibibytesPerMegabyte
}
