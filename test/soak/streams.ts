// The load's streams, each reopened after it ends. The load closes some itself: otherwise the old version
// would keep more streams than the new one, which would hide new streams that still reach the old version.
// Whether a stream was allowed to end is judged elsewhere, with knowledge of the swaps.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../crash/random.ts'
import { openEventStream } from './event-stream.ts'
import { type ServiceLoad, timeoutMs } from './plan.ts'
import { answeredBy, type StreamSample } from './sample.ts'
import { openWebSocket } from './web-socket.ts'

export interface Streams {
  load: ServiceLoad
  chance: Chance
  /** Closes the open streams. */
  over: AbortSignal
  report(sample: StreamSample): void
  /** Counts lasting streams that open and close. */
  count(more: 1 | -1): void
}

/** Callbacks of a stream; the first of `gone` and `failed` ends it. */
export interface StreamListener {
  opened(header: string | string[] | undefined): void
  received(): void
  gone(ending: string): void
  failed(fault: string): void
}

/** Opens a stream; returns a function that closes it. */
export type OpenStream = (load: ServiceLoad, listener: StreamListener) => () => void

type Kind = StreamSample['kind']

const ways: Record<Kind, OpenStream> = { websocket: openWebSocket, events: openEventStream }
const lookMs = 1000
/** A pause keeps repetitions from hiding the first refusal. */
const afterFaultMs = 500

/** A short-lived one is closed after a while. */
export async function keepStream(streams: Streams, kind: Kind, isFleeting: boolean): Promise<void> {
  const { load, chance, over } = streams
  const { least, most } = load.slowMs
  while (!over.aborted) {
    const sample = await follow(streams, kind, isFleeting ? chance.between(least, most) : null)
    if (sample.openedAt !== null || sample.fault !== null) streams.report(sample)
    if (sample.fault !== null) await sleep(afterFaultMs)
  }
}

async function follow(
  { load, over, count }: Streams,
  kind: Kind,
  lifeMs: number | null,
): Promise<StreamSample> {
  const sample = blankSample(kind, load.service)
  let stop = () => {}
  await new Promise<void>((resolve) => {
    const end = () => resolve()
    const listener = createListener(sample, lifeMs === null ? () => count(1) : () => undefined, end)
    const close = ways[kind](load, listener)
    const watch = setInterval(() => listener.look(), lookMs)
    const life = lifeMs === null ? undefined : setTimeout(end, lifeMs)
    over.addEventListener('abort', end)
    stop = () => {
      clearTimeout(life)
      over.removeEventListener('abort', end)
      clearInterval(watch)
      close()
    }
  })
  stop()
  if (lifeMs === null && sample.openedAt !== null) count(-1)
  return { ...sample }
}

function createListener(sample: StreamSample, countOpened: () => void, end: () => void) {
  let heardAt = performance.now()
  // Late callbacks of an ended stream are ignored.
  let hasEnded = false
  const finish = (change: Partial<StreamSample>) => {
    if (hasEnded) return
    hasEnded = true
    Object.assign(sample, { endedAt: Date.now(), ...change })
    end()
  }
  return {
    opened(header: string | string[] | undefined) {
      heardAt = performance.now()
      Object.assign(sample, { openedAt: Date.now(), ...answeredBy(header) })
      countOpened()
    },
    received() {
      heardAt = performance.now()
      sample.received++
    },
    gone(ending: string) {
      finish(sample.openedAt === null ? { fault: `never opened: ${ending}` } : { ending })
    },
    failed: (fault: string) => finish({ fault }),
    look() {
      if (performance.now() - heardAt > timeoutMs) finish({ fault: `silent for ${timeoutMs} ms` })
    },
  }
}

function blankSample(kind: Kind, service: string): StreamSample {
  const nothing = { openedAt: null, endedAt: null, ending: null, deploy: null, instance: null, fault: null }
  return { kind, service, sentAt: Date.now(), received: 0, ...nothing }
}
