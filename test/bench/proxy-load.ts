// Loads a proxy at full speed to measure its CPU cost, and at a fixed rate to measure tail latency.
import { Agent, get } from 'node:http'
import autocannon from 'autocannon'
import { runOpenLoop } from '../soak/open-loop.ts'
import { cpuSeconds } from './process-usage.ts'

export interface ProxyTarget {
  port: number
  host: string
  /** The process ids of its workers. */
  pids(): number[]
}

const connections = 50
/** Per second. At full speed, latency depends only on the number of concurrent requests. */
const bearablePace = 1000

/** Throws if a request failed. */
export async function answersPerCpuSecond(target: ProxyTarget, seconds: number): Promise<number> {
  const { port, host, pids } = target
  const used = () => pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const before = used()
  const url = `http://127.0.0.1:${port}/`
  const result = await autocannon({ url, headers: { host }, connections, duration: seconds })
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} bad answers, ${result.errors} errors`)
  }
  return result['2xx'] / (used() - before)
}

/** The ms until each response was complete. Throws if a request failed. */
export async function measureLatencies({ port, host }: ProxyTarget, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + seconds * 1000
  const took: number[] = []
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const sentAt = performance.now()
      const asking = get({ host: '127.0.0.1', port, headers: { host }, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${host} answered ${response.statusCode}`))
        response.resume().once('end', () => {
          took.push(performance.now() - sentAt)
          resolve()
        })
      })
      asking.once('error', reject)
    })
  await runOpenLoop(bearablePace, () => performance.now() >= until, ask)
  agent.destroy()
  return took
}
