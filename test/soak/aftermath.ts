// What must be true after a run while the daemon is still running: one set of containers per service, and
// no logged errors.
import { readDocker } from '../crash/docker-state.ts'
import type { Violation } from '../crash/ledger.ts'
import type { TestDaemon } from '../support/daemon/daemon.ts'
import type { App } from './app.ts'

/** Each app has the wanted number of containers, all running and all of the live deploy. */
export async function judgeContainers(daemon: TestDaemon, apps: readonly App[]): Promise<Violation[]> {
  const { containers } = await readDocker(daemon.prefix)
  const violations: Violation[] = []
  for (const { id, name, instances } of apps) {
    const { live_deploy_id } = await daemon.api.get(`/services/${id}`)
    const present = containers.filter(({ serviceId }) => serviceId === id)
    const serving = present.filter(({ deployId, isRunning }) => deployId === live_deploy_id && isRunning)
    if (present.length === instances && serving.length === instances) continue
    violations.push({
      rule: 'one set of containers remains',
      text: `${name}: ${present.length} containers, ${serving.length} of them live, expected ${instances}`,
      evidence: present.map((container) => JSON.stringify(container)),
    })
  }
  return violations
}

/** Any error in the daemon's log is a violation, even if everything ended well. */
export function judgeLog({ log }: TestDaemon): Violation[] {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  return errors.map((text) => ({ rule: 'the daemon logs no error', text, evidence: [] }))
}
