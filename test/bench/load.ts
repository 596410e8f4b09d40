// Asks a server as fast as it answers, and says what an answer costs it: requests for each second of its CPU.
import autocannon from 'autocannon'
import { cpuSeconds } from './process-usage.ts'

export interface Target {
  pid: number
  url: string
  headers: Record<string, string>
}

const connections = 50

/** The requests that a second of the server's CPU answered. Throws when one was not answered well. */
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
