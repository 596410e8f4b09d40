// The effects of the edge: HAProxy is there, has what is committed, and is looked after.
import type { machine } from '../../machines/edge.ts'
import type { Effects } from '../../machines/slot.ts'
import { ensureEdgeImage } from '../base-images/edge-image.ts'
import {
  edgeOutput,
  edgeRestarts,
  ensureEdgeContainer,
  removeEdgeContainer,
  requireLocalEngine,
} from '../docker/edge-container.ts'
import { alertsIn, openHostProcess, servesWithin } from '../edge/host-process.ts'
import { openPlace, type Place } from '../edge/place.ts'
import { Failure } from '../errors.ts'
import { createAccessReader } from './edge/access-reader.ts'
import type { EdgeRounds } from './edge/edge.ts'
import { type Host, isoNow } from './host.ts'
import { sleep } from './waiting.ts'

export interface EdgeParts {
  place: Place
  rounds: EdgeRounds
  /** Empty for our own. */
  image: string
  docker: string
  /** Resolves when the API is open: what the edge leads to has an address then. */
  opened: Promise<void>
}

/** A change is applied at once; this is for what nobody told. */
const roundMs = 2_000
const startMs = 20_000
/** It ends at once where a port is taken. Once more may be chance. */
const mostRestarts = 2

export function edgeEffects(host: Host, parts: EdgeParts | null): Effects<typeof machine> {
  if (!parts) return { ...withoutEdge, sleepUntil, stopEdge: () => stopAll(host) }
  const { place, rounds } = parts
  const hostProcess = openHostProcess(place)
  return {
    async startEdge({ mode }, signal) {
      await parts.opened
      await rounds.render()
      if (mode === 'host') {
        await removeEdgeContainer(host.engine, host.owner).catch(() => undefined)
        await hostProcess.ensure(signal)
      } else {
        await ensureContainer(host, parts, signal)
      }
      await rounds.round()
      return { at: isoNow() }
    },

    async keepRoutes({ id }, signal) {
      await parts.opened
      const reader = createAccessReader(rounds, host.logger)
      const told = { routes: '', refusals: '' }
      try {
        for (;;) {
          signal.throwIfAborted()
          const { routes, refusals, process } = await rounds.round()
          reader.follow(process)
          if (refusals.join() !== told.refusals) {
            told.refusals = refusals.join()
            if (refusals.length > 0) host.logger.error({ refusals }, 'certificates cannot be served')
          }
          if (JSON.stringify(routes) !== told.routes) {
            told.routes = JSON.stringify(routes)
            await host.actors.send(id, { type: 'routes.applied', at: isoNow(), routes })
          }
          await rounds.next(roundMs, signal)
        }
      } finally {
        await reader.close()
      }
    },

    stopEdge: () => stopAll(host),
    sleepUntil,
  }
}

const withoutEdge = {
  startEdge: async () => {
    throw new Failure('edge_off', 'there is no edge: --edge is off')
  },
  keepRoutes: async () => ({ at: isoNow() }),
}

const sleepUntil = async ({ wakeAt }: { wakeAt: number }, signal: AbortSignal) => {
  await sleep(Math.max(0, wakeAt - Date.now()), signal)
  return { at: isoNow() }
}

/** Whichever there was: the mode of now says nothing of it. */
async function stopAll(host: Host): Promise<{ at: string }> {
  await openHostProcess(openPlace(host.settings.dataDir)).stop()
  await removeEdgeContainer(host.engine, host.owner)
  return { at: isoNow() }
}

async function ensureContainer(
  host: Host,
  { place, image, docker }: EdgeParts,
  signal: AbortSignal,
): Promise<void> {
  requireLocalEngine(docker)
  await openHostProcess(place).stop()
  // One that serves is adopted without the engine: that may be away while the edge is not.
  if (await servesWithin(place, 0, signal)) return
  await host.ready(signal)
  const onMake = () => host.logger.info('making the image of the edge from Debian packages, once')
  const spec = {
    image: image || (await ensureEdgeImage(host.engine, { onMake, signal })),
    directory: place.directory,
    arguments: ['-W', '-S', `${place.masterSocket},mode,600${ownerText()}`, '-f', place.configuration],
    isForeignUser: process.getuid?.() !== 0,
  }
  const end = await ensureEdgeContainer(host.engine, host.owner, spec, signal)
  if (end) host.logger.error(end, 'the container of the edge had ended, and was made anew')
  // One that runs may have been started again long ago; what cannot be looked at is not failing.
  const restarts = () => edgeRestarts(host.engine, host.owner)
  const before = await restarts()
  const isFailing = async () => (await restarts().catch(() => before)) - before >= mostRestarts
  if (await servesWithin(place, startMs, signal, isFailing)) return
  const output = await edgeOutput(host.engine, host.owner).catch(() => '')
  // One that hangs would be taken for one that runs.
  await removeEdgeContainer(host.engine, host.owner)
  throw new Failure('edge_unavailable', `HAProxy does not start: ${alertsIn(output) || 'it says nothing'}`)
}

/** Sockets made by root in the container belong to who runs the daemon. */
export function socketOwner(): { uid: number; gid: number } | null {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return uid === 0 ? null : { uid, gid }
}

function ownerText(): string {
  const owner = socketOwner()
  return owner ? `,uid,${owner.uid},gid,${owner.gid}` : ''
}
