// The effects of the edge: start HAProxy, apply committed changes, supervise it, and replace it with a newer
// one without a failed request.
import type { machine } from '../../../machines/edge/edge.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { openEdgeFiles } from '../../edge/files.ts'
import { Failure } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { removeEdgeContainers, stopHostProcesses } from './launcher.ts'
import type { EdgePorts } from './ports.ts'
import { type EdgeParts, EdgeReconciler } from './reconciler.ts'

export function edgeEffects(ports: EdgePorts, parts: EdgeParts | null): Effects<typeof machine> {
  if (!parts) return { ...disabledEdgeEffects, sleepUntil, stopEdge: () => stopAll(ports) }
  const { files, rounds, opened } = parts
  const reconciler = new EdgeReconciler(ports, parts)
  return {
    async startEdge({ mode }, signal) {
      await opened
      await rounds.render()
      if (mode === 'host') await removeEdgeContainers(ports).catch(() => undefined)
      else await stopHostProcesses(files)
      return { generation: await reconciler.start(signal), at: isoNow() }
    },

    async keepRoutes({ id }, signal) {
      await opened
      const over = new AbortController()
      void reconciler.compare(id, AbortSignal.any([signal, over.signal]))
      await reconciler.reconcile(id, signal).finally(() => over.abort())
      return { at: isoNow() }
    },

    async upgradeEdge(request, signal) {
      await opened
      await rounds.render()
      return { ...(await reconciler.upgrade(request, signal)), at: isoNow() }
    },

    stopEdge: () => stopAll(ports),
    sleepUntil,
  }
}

const edgeOff = async () => {
  throw new Failure('edge_off', 'there is no edge: --edge is off')
}

const disabledEdgeEffects = {
  startEdge: edgeOff,
  keepRoutes: async () => ({ at: isoNow() }),
  upgradeEdge: edgeOff,
}

const sleepUntil = async ({ wakeAt }: { wakeAt: number }, signal: AbortSignal) => {
  await sleep(Math.max(0, wakeAt - Date.now()), signal)
  return { at: isoNow() }
}

/** Stops both kinds of edge, because the current mode may differ from the previous one. */
async function stopAll(ports: EdgePorts): Promise<{ at: string }> {
  await stopHostProcesses(openEdgeFiles(ports.settings.dataDir))
  await removeEdgeContainers(ports)
  return { at: isoNow() }
}
