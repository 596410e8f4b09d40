// The effects of automatic deploys: watching the source, deciding about a new head, and queueing a deploy.
import pLimit from 'p-limit'
import type { machine } from '../../../machines/auto-deploy.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { byServer } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import { sourceOf } from './attempts.ts'
import { awaitChecks } from './checks.ts'
import type { AutoDeployPorts } from './ports.ts'
import { decide } from './verdict.ts'
import { awaitPlan, watchSource } from './watch.ts'

/** Processes of git that run at a time: after a start, all services are looked at. */
const maxLooks = 4

export function autoDeployEffects(ports: AutoDeployPorts): Effects<typeof machine> {
  const looks = pLimit(maxLooks)
  return {
    watchSource: (input, signal) => watchSource(ports, looks, input, signal),
    awaitPlan: (input, signal) => awaitPlan(ports, input, signal),
    awaitChecks: (input, signal) => awaitChecks(ports, looks, input, signal),
    decide: (input, signal) =>
      decide(ports, input, signal).catch(async (error: unknown) => {
        signal.throwIfAborted()
        await answerDeliveries(ports, input.serviceId, messageOf(error))
        throw error
      }),
    beginDeploy: (input) => beginDeploy(ports, input),
  }
}

/** Without an answer, they would ask again at once. */
async function answerDeliveries({ storage }: AutoDeployPorts, serviceId: string, reason: string) {
  const { hookDeliveries } = storage
  const asked = hookDeliveries.openOf(serviceId)
  if (asked.length > 0)
    await hookDeliveries.settle(serviceId, asked, { at: isoNow(), deploy_id: null, reason })
}

interface DeployRequest {
  serviceId: string
  head: string
  deployId: string
}

/** Repeated after a crash, it finds the deploy that it queued. */
async function beginDeploy({ storage, actors, settings }: AutoDeployPorts, request: DeployRequest) {
  const { serviceId, head, deployId: id } = request
  const service = storage.services.get(serviceId)
  if (!service || service.deleting) return
  const source = sourceOf(service, head)
  const { deployLimits: limits } = settings
  const input = { id, serviceId, trigger: 'push' as const, source, clearCache: false, limits, at: isoNow() }
  try {
    await actors.spawn('deploy', id, input, { by: byServer(cause(service)) })
  } catch (error) {
    // The service is being deleted now.
    if (codeOf(error) !== 'conflict') throw error
  }
}

function cause({ image, branch, tag_pattern }: ServiceRow): string {
  if (image === null && tag_pattern) return `a tag that matches ${tag_pattern}`
  return image === null ? `a push to ${branch ?? 'the default branch'}` : `a new image of ${image}`
}
