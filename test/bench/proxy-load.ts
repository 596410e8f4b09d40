// Asks a proxy for a page as fast as it answers: what an answer costs the proxy, and how late the latest are.
import autocannon from 'autocannon'
import { cpuSeconds } from './process-usage.ts'

export interface ProxyTarget {
  port: number
  host: string
  /** Of its workers. */
  pids(): number[]
}

export interface ProxyLoad {
  perCpuSecond: number
  p99Ms: number
}

const connections = 50

/** Throws when a request was not answered well. */
export async function loadProxy({ port, host, pids }: ProxyTarget, seconds: number): Promise<ProxyLoad> {
  const used = () => pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const before = used()
  const url = `http://127.0.0.1:${port}/`
  const result = await autocannon({ url, headers: { host }, connections, duration: seconds })
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} bad answers, ${result.errors} errors`)
  }
  return { perCpuSecond: result['2xx'] / (used() - before), p99Ms: result.latency.p99 }
}
