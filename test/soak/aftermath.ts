// What a run leaves while the daemon still runs: one set of containers for each service, and a log without
// errors.
import { readDocker } from '../crash/docker-state.ts'
import type { Violation } from '../crash/ledger.ts'
import type { TestDaemon } from '../support/daemon.ts'
import type { App } from './app.ts'

/** Of each app: as many containers as wanted, all of the live deploy, all running. */
export async function judgeContainers(daemon: TestDaemon, apps: readonly App[]): Promise<Violation[]> {
  const { containers } = await readDocker(daemon.prefix)
  const violations: Violation[] = []
  for (const { id, name, instances } of apps) {
    const { live_deploy_id } = await daemon.api.get(`/services/${id}`)
    const own = containers.filter(({ serviceId }) => serviceId === id)
    const serving = own.filter(({ deployId, isRunning }) => deployId === live_deploy_id && isRunning)
    if (own.length === instances && serving.length === instances) continue
    violations.push({
      rule: 'one set of containers is left',
      text: `${name}: ${own.length} containers, ${serving.length} of them of what is live, not ${instances}`,
      evidence: own.map((container) => JSON.stringify(container)),
    })
  }
  return violations
}

/** What it says of itself: an error in its log is ours, however well everything ended. */
export function judgeLog({ log }: TestDaemon): Violation[] {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  return errors.map((text) => ({ rule: 'the daemon logs no error', text, evidence: [] }))
}
