// Asks a proxy for a page, as fast as it answers: what an answer costs the proxy; and at a pace that the
// machine bears: how late the latest are.
import { Agent, get } from 'node:http'
import autocannon from 'autocannon'
import { runOpenLoop } from '../soak/open-loop.ts'
import { cpuSeconds } from './process-usage.ts'

export interface ProxyTarget {
  port: number
  host: string
  /** Of its workers. */
  pids(): number[]
}

const connections = 50
/** A second. At the machine's limit a latency says only how many were asked for at once. */
const bearablePace = 1000

/** Throws when a request was not answered well. */
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

/** Milliseconds until each answer was whole. Throws when a request was not answered well. */
export async function measureLatencies({ port, host }: ProxyTarget, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + seconds * 1000
  const took: number[] = []
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const sentAt = performance.now()
      const asking = get({ host: '127.0.0.1', port, headers: { host }, agent }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${host} answered ${answer.statusCode}`))
        answer.resume().once('end', () => {
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
