// The HEALTHCHECK of an image as the check of its instances: Docker's status decides. Docker first runs it
// after a whole interval, 30 s by default. So Berth also runs the command while the status is "starting",
// like --start-interval of newer engines.
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { runInside } from '../../../docker/exec/exec.ts'
import { codeOf } from '../../../errors.ts'
import type { DeployPorts } from '../ports.ts'
import type { Healthcheck } from './probes.ts'

const pollIntervalMs = 2_000
const healthcheckTimeoutMs = 10_000

export function createHealthcheck({ engine, owner }: DeployPorts): Healthcheck {
  /** The earliest time to run the command again, by instance. */
  const nextAt = new Map<string, number>()

  return async ({ name, health }, signal) => {
    if (health?.status === 'healthy') return null
    if (health?.status === 'unhealthy') return describeUnhealthy(health.output)
    if (!health || Date.now() < (nextAt.get(name) ?? 0)) return 'starting'
    nextAt.set(name, Date.now() + pollIntervalMs)
    try {
      const command = { argv: health.argv }
      const limits = { signal, timeoutMs: healthcheckTimeoutMs }
      const { exitCode } = await runInside({ engine, owner }, name, command, limits)
      return exitCode === 0 ? null : 'starting'
    } catch (error) {
      signal.throwIfAborted()
      // The engine cannot end a command that hangs, so at most one runs.
      if (codeOf(error) === 'docker_unavailable') nextAt.set(name, Number.POSITIVE_INFINITY)
      return 'starting'
    }
  }
}

function describeUnhealthy(output: string): string {
  return output === '' ? 'unhealthy' : `unhealthy: ${output}`
}

/** Why its HEALTHCHECK degrades it, or null. It still serves and is not restarted, as with plain Docker. */
export function findUnhealthy(
  ports: DeployPorts,
  deployId: string,
  instances: InstanceState[],
): string | null {
  if (ports.storage.releases.get(deployId)?.settings.health_check_path) return null
  const instance = instances.find(({ health }) => health?.status === 'unhealthy')
  return instance ? `instance ${instance.index + 1} is ${describeUnhealthy(instance.health!.output)}` : null
}
