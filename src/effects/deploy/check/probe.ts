// Probes new instances at their own addresses until all pass or one has failed. Published ports are never
// probed: Docker's proxy accepts connections there even if nothing listens behind it.
import type { HealthCheck, PortSource } from '../../../../machines/deploy/deploy-context.ts'
import { sleep } from '../../../async/sleep.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { defaultHost } from '../../../domain/domains.ts'
import { listens } from '../../../domain/service-types.ts'
import { duration } from '../../../quantities.ts'
import { isoNow } from '../../iso-now.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import { type DeployLog, openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'
import { createHealthcheck } from './healthcheck.ts'
import { listensOn } from './port-search.ts'
import type { Healthcheck } from './probes.ts'
import { chooseProbe, kindOfProbe } from './probes.ts'
import { type Check, waitUntilPassed } from './until-passed.ts'

interface ProbeInput {
  id: string
  serviceId: string
  port: number
  portSource: PortSource
  /** How long the instances must have run before they replace others; 0 by default. */
  settleMs?: number
}

export function probeInstances(ports: DeployPorts) {
  return async (input: ProbeInput, signal: AbortSignal) => {
    const log = openDeployLog(ports, input.id)
    const instances = await retryWhileEngineUnavailable(ports, signal, () =>
      ports.instances.list({ deployId: input.id }),
    )
    const check = openCheck(ports, input, instances, log)
    const pass = async () => {
      for (const { name } of instances) await waitUntilPassed(ports, name, check, signal)
    }
    await pass()
    log.info(`healthy: ${check.probe().text}`, { brief: check.probe().text })
    if (await waitForSettling(ports, input, log, signal)) {
      await preferExpectedPort(ports, input, instances, check)
      await pass()
    }
    const { port, portSource, kind } = check
    return { at: isoNow(), port, portSource, healthCheck: kind }
  }
}

function openCheck(
  ports: DeployPorts,
  { id, serviceId, port, portSource }: ProbeInput,
  instances: readonly InstanceState[],
  log: DeployLog,
): Check & { kind: HealthCheck } {
  const { settings } = ports.storage.releases.get(id)!
  const service = ports.storage.services.get(serviceId)!
  const hasHealthcheck = instances.some(({ health }) => health)
  const healthcheck = createHealthcheck(ports)
  const hostName = defaultHost(service.name, ports.settings.baseDomain)
  const probe = () => chooseProbe({ settings, port: check.port, hostName, hasHealthcheck, healthcheck })
  const previous = service.live_deploy_id ? ports.storage.actors.record(service.live_deploy_id) : null
  const formerPort = previous?.port_source === 'detected' ? (previous.port as number) : null
  const kind = kindOfProbe({ settings, hasHealthcheck })
  const hasPort = listens(settings)
  const about = { settings, serviceName: service.name, hasPort, formerPort, log }
  const check = { ...about, port, portSource, kind, probe }
  return check
}

/** An app may open its metrics port first and `$PORT` later. */
async function preferExpectedPort(
  ports: DeployPorts,
  { id, port, portSource }: ProbeInput,
  instances: readonly InstanceState[],
  check: Check,
): Promise<void> {
  if (check.portSource !== 'detected' || instances.length === 0) return
  const now = await ports.instances.list({ deployId: id })
  for (const instance of now) if (!(await listensOn(instance, port))) return
  check.log.info(`it now listens on ${port}: using that port`)
  Object.assign(check, { port, portSource })
}

/** Returns whether a wait was needed. */
async function waitForSettling(
  ports: DeployPorts,
  { id, settleMs = 0 }: ProbeInput,
  log: DeployLog,
  signal: AbortSignal,
) {
  if (settleMs === 0) return false
  const instances = await retryWhileEngineUnavailable(ports, signal, () =>
    ports.instances.list({ deployId: id }),
  )
  const youngest = Math.max(...instances.map(({ startedAt }) => Date.parse(startedAt ?? isoNow())))
  const remainingMs = youngest + settleMs - Date.now()
  if (remainingMs <= 0) return false
  log.info(`watching it for ${duration(settleMs)} before it takes over (--settle-time)`)
  await sleep(remainingMs, signal)
  return true
}

/** Probes an instance of a live deploy once. Null if it passes, otherwise the reason. */
export async function tryProbe(
  ports: DeployPorts,
  { id, serviceId }: Pick<ProbeInput, 'id' | 'serviceId'>,
  instance: InstanceState,
  healthcheck: Healthcheck,
  signal: AbortSignal,
): Promise<string | null> {
  const { settings } = requireRelease(ports, id)
  const service = ports.storage.services.get(serviceId)
  const record = ports.storage.actors.record(id)
  const port = record?.port as number
  if (!service) return 'the service is gone'
  const hostName = defaultHost(service.name, ports.settings.baseDomain)
  // If a version went live without the image's HEALTHCHECK, that check must not remove it from service later.
  const hasHealthcheck = instance.health !== null && record?.health_check === 'image'
  return chooseProbe({ settings, port, hostName, hasHealthcheck, healthcheck }).run(instance, signal)
}
