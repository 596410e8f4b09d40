// Starts the reports of each deploy that makes a version from a commit, if its repository belongs to a
// connection that reports deploys.
import type { CommitStatusInput } from '../../../machines/commit-status.ts'
import type { Storage } from '../../../storage/index.ts'
import { commitStatusIdOf, isOfCommit } from '../../domain/commit-reports.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { servingOf } from '../git-connection/service-access.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

/** Returns the function that ends it. A deploy never waits for its reports. */
export function keepCommitStatuses(ports: SharedPorts): () => void {
  const { actors, changes } = ports.storage
  for (const { id } of actors.active('deploy')) void start(ports, id)
  return changes.subscribe(({ kind, id }) => {
    if (kind === 'deploy') void start(ports, id)
  })
}

async function start(ports: SharedPorts, deployId: string): Promise<void> {
  try {
    const input = reportsOf(ports.storage, deployId)
    if (input !== null) await ports.actors.spawn('commit-status', input.id, input)
  } catch (error) {
    // Without a record, the next change of the deploy or the next start tries again.
    if (codeOf(error) === 'conflict') return
    const about = { deploy: deployId, reason: messageOf(error) }
    ports.logger.error(about, 'a deploy is not reported to its provider')
  }
}

/** Null if the deploy has no reports, or has them already. */
function reportsOf(storage: Storage, deployId: string): CommitStatusInput | null {
  const { actors, services } = storage
  const id = commitStatusIdOf(deployId)
  const deploy = actors.record<'deploy'>(deployId)
  if (!deploy || !['queued', 'running'].includes(deploy.status) || !isOfCommit(deploy)) return null
  const { service_id: serviceId, source } = deploy
  const service = services.get(serviceId)
  if (!service || actors.record(id) !== null) return null
  const serving = servingOf(storage, service, source.repo_url)
  if (!serving?.isCertain || !serving.connection.report_deploys) return null
  const { connection, repository } = serving
  const label = `berth/${service.name}`
  return { id, deployId, serviceId, connectionId: connection.id, repository, label, at: isoNow() }
}
