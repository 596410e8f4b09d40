// The load, in a process of its own so that neither the daemon nor who judges takes its time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadPlan } from './plan.ts'
import type { LoadReport, RequestSample, StreamSample } from './sample.ts'

export interface Load {
  /** All that has been reported so far; both grow. */
  readonly requests: RequestSample[]
  readonly streams: StreamSample[]
  /** Streams that are to last and are open now. */
  readonly open: number
  /** Ends it. Resolves when what was under way has been answered and reported; rejects when it broke. */
  stop(): Promise<void>
  /** At once, whatever it is at. */
  kill(): void
}

const program = fileURLToPath(new URL('load-process.ts', import.meta.url))

export function startLoad(plan: LoadPlan): Load {
  const requests: RequestSample[] = []
  const streams: StreamSample[] = []
  let open = 0
  let hasEnded = false
  const child = fork(program, [JSON.stringify(plan)], { execArgv: ['--import', 'tsx'] })
  child.on('message', (said: LoadReport | 'ended') => {
    if (said === 'ended') {
      hasEnded = true
      return
    }
    requests.push(...said.requests)
    streams.push(...said.streams)
    open = said.open
  })
  const gone = once(child, 'exit')
  gone.catch(() => undefined)
  return {
    requests,
    streams,
    get open() {
      return open
    },
    async stop() {
      if (child.connected) child.send('stop')
      const [code, signal] = await gone
      if (!hasEnded) throw new Error(`the load broke: it ended with ${signal ?? code}`)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
