// Waits until the instances of a service match the requested change. The server applies the change in any
// case: to stop waiting does not stop it.

import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { sleep } from '../../async/sleep.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, interruption } from '../failure.ts'
import { showStep } from '../terminal/step.ts'

const pollMs = 500
/** A restarting service may be degraded for a moment. */
const degradedGraceMs = 15_000
/** Longer than an instance takes to drain and start by default. */
const timeoutMs = 10 * 60_000

export interface Change {
  service: Service
  /** `scaling` */
  verb: string
}

/** Whether there is anything to wait for: an instance, or a version to start. */
export function hasInstances({ type, live_deploy_id }: Service): boolean {
  return type !== 'cron_job' && live_deploy_id !== null
}

/** Shows the progress. Throws CliFailure if the service stays degraded, or Docker does not respond. */
export async function waitForInstances(cli: Cli, { service, verb }: Change): Promise<void> {
  const { name } = service
  let last: ServiceStatus | null = null
  const step = {
    name: verb,
    detail: () => (last ? progressOf(last) : name),
    summary: (status: ServiceStatus) => `${name} ${outcomeOf(status)}`,
  }
  try {
    await showStep(cli.out, step, () =>
      pollUntilSettled(cli, service, (status) => {
        last = status
      }),
    )
  } catch (error) {
    throw cli.signal.aborted
      ? interruption(`${name} continues in the background`, `berth status ${name}`)
      : error
  }
}

async function pollUntilSettled(
  { client, signal }: Cli,
  { id, name }: Service,
  onLook: (status: ServiceStatus) => void,
): Promise<ServiceStatus> {
  const startedAt = Date.now()
  let soundAt = startedAt
  for (;;) {
    const status = await client.call<ServiceStatus>('GET', `${servicePath(id)}/status`)
    onLook(status)
    if (isSettled(status)) return status
    if (status.state !== 'degraded') soundAt = Date.now()
    const hint = `berth status ${name} shows its instances, berth logs ${name} what they write`
    if (Date.now() - soundAt > degradedGraceMs) {
      throw new CliFailure(`${name} is degraded: ${status.reason ?? progressOf(status)}`, { hint })
    }
    if (Date.now() - startedAt > timeoutMs) {
      throw new CliFailure(`${name} is not ready yet: ${progressOf(status)}`, { hint })
    }
    await sleep(pollMs, signal)
  }
}

/**
 * True if exactly the desired number of instances run and the service is not degraded. Instances of other
 * versions do not count.
 */
function isSettled({ state, desired_instances: desired, instances }: ServiceStatus): boolean {
  const live = instances.filter(({ role }) => role === 'live')
  const isComplete = live.length === desired && live.every((one) => one.state === 'running')
  return isComplete && state !== 'degraded'
}

/** `2 of 3 instances run`, `1 instance stops` */
function progressOf({ desired_instances: desired, instances }: ServiceStatus): string {
  const running = instances.filter(({ role, state }) => role === 'live' && state === 'running').length
  if (running > desired) return `${count(running - desired, 'instance')} still stopping`
  return `${running} of ${count(desired, 'instance')} running`
}

function outcomeOf({ desired_instances: desired }: ServiceStatus): string {
  return desired === 0 ? 'has stopped' : `runs ${count(desired, 'instance')}`
}
