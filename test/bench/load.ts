// Loads a server as fast as it responds, and measures requests per second of its CPU time.
import autocannon from 'autocannon'
import { cpuSeconds } from './process-usage.ts'

export interface Target {
  pid: number
  url: string
  headers: Record<string, string>
}

const connections = 50

/** Requests per second of the server's CPU time. Throws if a request failed. */
export async function requestsPerCpuSecond(target: Target, path: string, seconds: number): Promise<number> {
  const { pid, url, headers } = target
  const before = cpuSeconds(pid)
  const result = await autocannon({ url: url + path, headers, connections, duration: seconds })
  const used = cpuSeconds(pid) - before
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${url}${path}: ${result.non2xx} bad answers, ${result.errors} errors`)
  }
  return result['2xx'] / used
}
