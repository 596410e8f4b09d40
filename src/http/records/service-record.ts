// The service in responses: its row, and fields derived from the committed records of its deploys.
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import { Service } from '../../api/service.ts'
import { defaultPollSeconds } from '../../domain/auto-deploys.ts'
import { type Publication, servedHostsOf, urlOf } from '../../domain/domains.ts'
import { listens } from '../../domain/service-types.ts'
import { conflict, notFound } from '../../errors.ts'
import { suggestion } from '../../nearest-name.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { toAutoDeploys } from './auto-deploys-record.ts'
import { shownFields } from './stored-record.ts'

const maxDeploysSearched = 20

export function findService(storage: Storage, idOrName: string): ServiceRow {
  const row = storage.services.get(idOrName)
  if (row) return row
  throw notFound(`there is no service '${idOrName}'`, hintFor(storage, idOrName))
}

function hintFor(storage: Storage, wanted: string): string {
  if (storage.datastores.idOf(wanted) !== null) return `it is a datastore: berth db show ${wanted}`
  const names = storage.services.list().map(({ name }) => name)
  return suggestion(wanted, names) ?? 'berth services lists them'
}

export function assertNotDeleting(row: ServiceRow): void {
  if (row.deleting) throw conflict(`${row.name} is being deleted`)
}

export function latestDeploy(storage: Storage, serviceId: string): Deploy | null {
  return storage.actors.latest('deploy', serviceId) as Deploy | null
}

/** The newest deploy that is not canceled. It determines the state of the service. */
export function decisiveDeploy(
  storage: Storage,
  serviceId: string,
  latest = latestDeploy(storage, serviceId),
): Deploy | null {
  if (latest?.status !== 'canceled') return latest
  const recent = storage.actors.list('deploy', serviceId, maxDeploysSearched) as Deploy[]
  return recent.find(({ status }) => status !== 'canceled') ?? latest
}

/** `planned` is the first deploy, if it is about to be queued. */
export function toService(
  context: Pick<HttpContext, 'config' | 'storage' | 'hasCertificate'>,
  row: ServiceRow,
  planned: Deploy | null = null,
): Service {
  const { storage } = context
  const latest = planned ?? latestDeploy(storage, row.id)
  const publication = publicationOf(context)
  // Settings that rows of older versions do not have.
  const { build_target = null, builder = null, build_args = {}, init = true, protocol = 'http' } = row
  return shownFields(Service, row, {
    build_target,
    builder,
    build_args,
    init,
    protocol,
    use_git_connection: row.use_git_connection ?? true,
    deploy_when: row.deploy_when ?? 'push',
    poll_seconds: row.poll_seconds ?? defaultPollSeconds,
    tag_pattern: row.tag_pattern ?? null,
    skip_ci: row.skip_ci ?? false,
    auto_deploys: toAutoDeploys(storage, row),
    has_deploy_key: storage.deployKeys.has(row.id),
    submodule_owners: row.submodule_owners ?? [],
    shared_network: row.shared_network ?? true,
    state: planned ? 'deploying' : stateOf(storage, row, latest),
    url: urlOf(row, publication),
    hosts: servedHostsOf(row, publication),
    internal_host: listens(row) ? row.name : null,
    ...liveDeployFieldsOf(storage, row),
    latest_deploy: latest,
  })
}

export function publicationOf({
  config: { baseDomain, edge },
  hasCertificate,
}: Pick<HttpContext, 'config' | 'hasCertificate'>): Publication {
  return { baseDomain, edge, hasCertificate }
}

/** The first state that applies, in this order. */
export function stateOf(
  storage: Storage,
  row: ServiceRow,
  latest = latestDeploy(storage, row.id),
): Service['state'] {
  if (row.deleting) return 'deleting'
  if (row.suspended) return 'suspended'
  const status = decisiveDeploy(storage, row.id, latest)?.status
  if (status === 'queued' || status === 'running') return 'deploying'
  if (row.live_deploy_id) return row.degraded ? 'degraded' : 'live'
  return status === 'failed' ? 'failed' : 'not_deployed'
}

function liveDeployFieldsOf(storage: Storage, row: ServiceRow) {
  const live = row.live_deploy_id ? (storage.actors.record(row.live_deploy_id) as Deploy | null) : null
  const found = { internal_port: live?.port ?? null, port_source: live?.port_source ?? null }
  const wanted = { internal_port: row.port, port_source: 'setting' as const }
  const none = { internal_port: null, port_source: null }
  return { ...(listens(row) ? (row.port ? wanted : found) : none), health_check: live?.health_check ?? null }
}
