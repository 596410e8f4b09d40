// Loads a server at full speed to measure its CPU cost, and at a fixed rate to measure tail latency.
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import autocannon from 'autocannon'
import { runOpenLoop } from '../soak/open-loop.ts'

export interface Target {
  pid: number
  url: string
  headers: Record<string, string>
}

const connections = 50
/** Per second. At full speed, latency depends only on the number of concurrent requests. */
const bearablePace = 1000
/** The kernel's clock ticks per second, the same on every Linux that Node supports. */
const ticksPerSecond = 100

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

/** The ms until each response was complete. Throws if a request failed. */
export async function measureLatencies({ url, headers }: Target, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + seconds * 1000
  const took: number[] = []
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const sentAt = performance.now()
      const asking = get(url, { headers, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`))
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

/** All threads, in user and kernel mode. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
