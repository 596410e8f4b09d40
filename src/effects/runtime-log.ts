// What the instances of a service write, as one stream. Docker keeps it with the container: it ends with it.
// Mind: a followed log never ends by itself: instances come and go, a new deploy's are joined as they start.
import type { LogLine } from '../../storage/logs.ts'
import type { InstanceState } from '../docker/instances.ts'
import { createChannel } from './channel.ts'
import type { Host } from './host.ts'
import { sleep } from './waiting.ts'

export type RuntimeLine = LogLine & { instance: string }

export interface RuntimeLogOptions {
  tail: number
  follow: boolean
  signal: AbortSignal
}

type Parts = Pick<Host, 'instances'>

/** How soon a new instance is joined. */
const joinMs = 500

export function readRuntimeLog(host: Parts, serviceId: string, options: RuntimeLogOptions) {
  return options.follow ? followAll(host, serviceId, options) : lastLines(host, serviceId, options)
}

/** The last lines of all instances together, by their time. */
async function* lastLines(host: Parts, serviceId: string, { tail }: RuntimeLogOptions) {
  const instances = await host.instances.list({ serviceId })
  const all = instances.map(async (instance) => {
    const lines = await host.instances.tail(instance.name, tail)
    return lines.map((line) => named(line, instance))
  })
  yield* (await Promise.all(all)).flat().sort(byTime).slice(-tail)
}

async function* followAll(host: Parts, serviceId: string, options: RuntimeLogOptions) {
  const { signal } = options
  const channel = createChannel<RuntimeLine>(signal)
  const followed = new Map<string, Place>()

  async function join(instance: InstanceState): Promise<void> {
    const place = followed.get(instance.containerId) ?? { until: '', atUntil: [], isOpen: false }
    if (place.isOpen) return
    place.isOpen = true
    followed.set(instance.containerId, place)
    const from = place.until ? { since: place.until } : { tail: options.tail }
    const isRead = readBefore(place)
    try {
      for await (const line of host.instances.logs(instance.name, { ...from, follow: true, signal })) {
        if (!isRead(line)) await channel.put(named(line, instance))
      }
    } finally {
      place.isOpen = false
    }
  }

  async function joinNewOnes(): Promise<void> {
    while (!signal.aborted) {
      const instances = await host.instances.list({ serviceId }).catch(() => [])
      const running = instances.filter(({ state }) => state === 'running')
      for (const instance of running) void join(instance).catch(() => undefined)
      await sleep(joinMs, signal).catch(() => undefined)
    }
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
}

/** Tells which lines of a log that is opened again were read before, and keeps the place. */
function readBefore(place: Place): (line: LogLine) => boolean {
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

function named(line: LogLine, { index }: InstanceState): RuntimeLine {
  return { ...line, instance: String(index) }
}

function byTime(a: LogLine, b: LogLine): number {
  return a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0
}
