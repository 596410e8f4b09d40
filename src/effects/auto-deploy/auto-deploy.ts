// The effects of automatic deploys: watching the source, deciding about a new head, and queueing a deploy.
import type { AutoDeployPlan, machine } from '../../../machines/auto-deploy.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { isSamePlan, planOf } from '../../domain/auto-deploys.ts'
import { codeOf, conflict, messageOf } from '../../errors.ts'
import { byServer } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import { sourceOf } from './attempts.ts'
import { awaitChecks } from './checks.ts'
import { openPlaces } from './places.ts'
import type { AutoDeployPorts } from './ports.ts'
import { decide, outdated } from './verdict.ts'
import { awaitPlan, watchSource } from './watch.ts'

export function autoDeployEffects(ports: AutoDeployPorts): Effects<typeof machine> {
  const places = openPlaces()
  return {
    watchSource: (input, signal) => watchSource(ports, places, input, signal),
    awaitPlan: (input, signal) => awaitPlan(ports, input, signal),
    awaitChecks: (input, signal) => awaitChecks(ports, places, input, signal),
    decide: async (input, signal) => {
      const verdict = await decide(ports, places, input, signal).catch(async (error: unknown) => {
        signal.throwIfAborted()
        await answerDeliveries(ports, input.serviceId, messageOf(error))
        throw error
      })
      return isPlanned(ports, input) ? verdict : outdated
    },
    beginDeploy: (input) => beginDeploy(ports, input),
  }
}

/** A rollback, a suspension or another source may have come in between. */
function isPlanned({ storage }: AutoDeployPorts, { serviceId, plan }: Planned): boolean {
  const current = planOf(storage.services.get(serviceId))
  return current !== null && isSamePlan(current, plan)
}

/** Without an answer, they would ask again at once. */
async function answerDeliveries({ storage }: AutoDeployPorts, serviceId: string, reason: string) {
  const { hookDeliveries } = storage
  const asked = hookDeliveries.openOf(serviceId)
  if (asked.length > 0)
    await hookDeliveries.settle(serviceId, asked, { at: isoNow(), deploy_id: null, reason })
}

interface Planned {
  serviceId: string
  plan: AutoDeployPlan
}

interface DeployRequest extends Planned {
  head: string
  deployId: string
}

/** Repeated after a crash, it finds the deploy that it queued. */
async function beginDeploy(ports: AutoDeployPorts, request: DeployRequest) {
  const { storage, actors, settings } = ports
  const { serviceId, head, deployId: id } = request
  const service = storage.services.get(serviceId)
  if (!service || storage.actors.record(id) !== null) return { isBegun: true }
  const source = sourceOf(service, head)
  const { deployLimits: limits } = settings
  const input = { id, serviceId, trigger: 'push' as const, source, clearCache: false, limits, at: isoNow() }
  const also = () => {
    if (!isPlanned(ports, request)) throw conflict('its settings have changed')
  }
  try {
    await actors.spawn('deploy', id, input, { by: byServer(cause(service)), also })
    return { isBegun: true }
  } catch (error) {
    // Or the service is being deleted now.
    if (codeOf(error) !== 'conflict') throw error
    return { isBegun: false }
  }
}

function cause({ image, branch, tag_pattern }: ServiceRow): string {
  if (image === null && tag_pattern) return `a tag that matches ${tag_pattern}`
  return image === null ? `a push to ${branch ?? 'the default branch'}` : `a new image of ${image}`
}
