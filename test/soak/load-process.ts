// The load's process: executes the plan until the parent sends `stop`, and reports samples as they come.
// Usage: load-process PLAN, with an IPC channel to the parent.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChance } from '../crash/random.ts'
import { runEncrypted } from './encrypted.ts'
import { isFleeting, type LoadPlan, type ServiceLoad } from './plan.ts'
import { type Requests, runQuick, runSlow } from './requests.ts'
import type { RequestSample, StreamSample } from './sample.ts'
import { keepStream } from './streams.ts'

const reportMs = 250

const plan: LoadPlan = JSON.parse(process.argv[2]!)
const chance = createChance(plan.seed)
const over = new AbortController()
// Each stream adds a listener.
setMaxListeners(0, over.signal)
let requests: RequestSample[] = []
let streams: StreamSample[] = []
let open = 0

process.on('message', () => over.abort())
// The parent has exited, so the load is no longer needed.
process.on('disconnect', () => process.exit(1))

const reporting = setInterval(report, reportMs)
await Promise.all(plan.services.flatMap(begin))
clearInterval(reporting)
report()
process.send!('ended', () => process.exit(0))

function report(): void {
  process.send!({ requests, streams, open })
  requests = []
  streams = []
}

function begin(load: ServiceLoad): Promise<void>[] {
  const own = (): Requests => ({
    load,
    chance: chance.fork(),
    isOver: () => over.signal.aborted,
    report: (sample) => void requests.push(sample),
  })
  const streaming = () => ({
    load,
    chance: chance.fork(),
    over: over.signal,
    report: (sample: StreamSample) => void streams.push(sample),
    count: (more: 1 | -1) => {
      open += more
    },
  })
  const keeping = (length: number, kind: StreamSample['kind']) =>
    Array.from({ length }, (_, index) => spread(() => keepStream(streaming(), kind, isFleeting(index))))
  return [
    runQuick(own()),
    runEncrypted(own()),
    ...Array.from({ length: load.slow }, () => spread(() => runSlow(own()))),
    ...keeping(load.webSockets, 'websocket'),
    ...keeping(load.eventStreams, 'events'),
  ]
}

/** Staggers the starts. */
async function spread(work: () => Promise<void>): Promise<void> {
  await sleep(chance.between(0, 1000))
  await work()
}
