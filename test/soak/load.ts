// Runs the load in a separate process, so that it shares no CPU time with the daemon or the judge.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadPlan } from './plan.ts'
import type { LoadReport, RequestSample, StreamSample } from './sample.ts'

export interface Load {
  /** All samples reported so far; both lists grow. */
  readonly requests: RequestSample[]
  readonly streams: StreamSample[]
  /** The number of lasting streams that are open now. */
  readonly open: number
  /**
   * Ends the load. Resolves when everything in progress is complete and reported; rejects if the load failed.
   */
  stop(): Promise<void>
  /** Kills it at once. */
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
