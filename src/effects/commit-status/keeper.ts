// Starts the reports of each deploy that makes a version from a commit, if its repository belongs to a
// connection that reports deploys.
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

async function start({ storage, actors, logger }: SharedPorts, deployId: string): Promise<void> {
  const id = commitStatusIdOf(deployId)
  const deploy = storage.actors.record<'deploy'>(deployId)
  if (!deploy || !['queued', 'running'].includes(deploy.status) || !isOfCommit(deploy)) return
  const { service_id: serviceId, source } = deploy
  const service = storage.services.get(serviceId)
  if (!service || storage.actors.record(id) !== null) return
  const serving = servingOf(storage, service, source.repo_url)
  if (!serving?.connection.report_deploys) return
  const { connection, repository } = serving
  const label = `berth/${service.name}`
  const input = { id, deployId, serviceId, connectionId: connection.id, repository, label, at: isoNow() }
  try {
    await actors.spawn('commit-status', id, input)
  } catch (error) {
    // Without a record, the next change of the deploy or the next start tries again.
    if (codeOf(error) === 'conflict') return
    logger.error({ deploy: deployId, reason: messageOf(error) }, 'a deploy is not reported to its provider')
  }
}
