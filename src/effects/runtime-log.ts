// What the instances of a service write, as one stream. Docker keeps it with the container: it ends with it.
// Mind: a followed log never ends by itself: instances come and go, a new deploy's are joined as they start.
import type { LogLine } from '../../storage/logs.ts'
import type { LogRange } from '../docker/instance-log.ts'
import type { InstanceState } from '../docker/instances.ts'
import { createChannel } from './channel.ts'
import { type Host, isoNow } from './host.ts'
import { untilNudged } from './waiting.ts'

export type RuntimeLine = LogLine & { instance: string }

export interface RuntimeLogOptions {
  tail: number
  follow: boolean
  signal: AbortSignal
}

type Parts = Pick<Host, 'instances' | 'instanceEvents'>

/** Events tell at once of a new instance; this is for what no event told. */
const lookAgainMs = 10_000

export function readRuntimeLog(host: Parts, serviceId: string, options: RuntimeLogOptions) {
  return options.follow ? followAll(host, serviceId, options) : lastLines(host, serviceId, options)
}

/** The last lines of all instances together, by their time. One instance after another: lines may be long. */
async function* lastLines(host: Parts, serviceId: string, { tail, signal }: RuntimeLogOptions) {
  let newest: RuntimeLine[] = []
  for (const instance of await host.instances.list({ serviceId })) {
    signal.throwIfAborted()
    const lines = await host.instances.tail(instance.name, tail)
    const all = [...newest, ...lines.map((line) => named(line, instance))].sort(byTime)
    newest = tail === 0 ? [] : all.slice(-tail)
  }
  yield* newest
}

async function* followAll(host: Parts, serviceId: string, options: RuntimeLogOptions) {
  const { signal } = options
  const channel = createChannel<RuntimeLine>(signal)
  const places = new Map<string, Place>()

  async function join(instance: InstanceState, beginning: LogRange): Promise<void> {
    const place = places.get(instance.containerId) ?? { ...unread, atUntil: [] }
    if (place.isOpen || place.readRun === instance.startedAt) return
    places.set(instance.containerId, place)
    place.isOpen = true
    const from = place.until ? { since: place.until } : beginning
    const wasRead = createReadCheck(place)
    try {
      for await (const line of host.instances.logs(instance.name, { ...from, follow: true, signal })) {
        if (!wasRead(line)) await channel.put(named(line, instance))
      }
      place.readRun = instance.startedAt
    } finally {
      place.isOpen = false
    }
  }

  /** Every state is joined: what an instance wrote before it crashed is what is wanted most. */
  async function joinAll(beginning: LogRange): Promise<void> {
    const instances = await host.instances.list({ serviceId }).catch(() => [])
    for (const instance of instances) void join(instance, beginning).catch(() => undefined)
  }

  async function joinNewOnes(): Promise<void> {
    let wake = () => {}
    const stop = host.instanceEvents.subscribeService(serviceId, () => wake())
    // Those that are there begin with their last lines, those that come with their first.
    for (let beginning = begin(options.tail); !signal.aborted; beginning = {}) {
      // Caught at once: a reader that leaves while the instances are listed must not end the daemon.
      const nudged = untilNudged((listener) => (wake = listener), lookAgainMs, signal)
      const woken = nudged.catch(() => undefined)
      await joinAll(beginning)
      await woken
    }
    stop()
  }

  void joinNewOnes()
  yield* channel
}

/** How far the log of one container was read: a container that is started again goes on from there. */
interface Place {
  /** The instant of the newest line, '' before the first. */
  until: string
  /** The lines of that very instant. */
  atUntil: string[]
  isOpen: boolean
  /** The run (when it was started) that was read to its end. */
  readRun: string | null
}

const unread = { until: '', isOpen: false, readRun: null }

/** Tells which lines of a log that is opened again were read before, and keeps the place. */
function createReadCheck(place: Place): (line: LogLine) => boolean {
  const { until } = place
  const again = [...place.atUntil]
  return ({ ts, line }) => {
    const known = ts === until ? again.indexOf(line) : -1
    if (known >= 0) again.splice(known, 1)
    if (ts < until || known >= 0) return true
    if (ts !== place.until) place.atUntil = []
    place.until = ts
    place.atUntil.push(line)
    return false
  }
}

/** No last lines means from now on: "the last 0" would be said again each time the log is opened again. */
function begin(tail: number): LogRange {
  return tail === 0 ? { since: isoNow() } : { tail }
}

function named(line: LogLine, { index }: InstanceState): RuntimeLine {
  return { ...line, instance: String(index) }
}

function byTime(a: LogLine, b: LogLine): number {
  return a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0
}
