// Checks the promises to users: no acknowledged request is lost, and nothing happens without a request.
import type { Api, Body } from '../support/daemon/api.ts'
import type { DeployEntry, Ledger } from './ledger.ts'
import { collectEvidence, type Settled, type SettledDeploy } from './settled.ts'

type RecordOf = (deployId: string) => Body | null

export async function checkPromises(api: Api, ledger: Ledger, settled: Settled): Promise<void> {
  for (const deploy of settled.deploys) {
    for (const { rule, text } of violationsOf(deploy, settled)) {
      ledger.addViolation(
        rule,
        `${deploy.entry.id} of ${deploy.entry.service.name}: ${text}`,
        await collectEvidence(api, deploy),
      )
    }
  }
  for (const { entry, record, env, deployIds } of settled.services) {
    for (const id of deployIds.filter((id) => !ledger.deploys.has(id))) {
      const record = await api.get(`/deploys/${id}`)
      ledger.addViolation(
        'a request is executed once',
        `${entry.name} has ${id}, which was never acknowledged`,
        [JSON.stringify(record)],
      )
    }
    const { instances, suspended } = entry.wanted
    const wanted = JSON.stringify({ instances, suspended })
    const label = JSON.stringify({ instances: record.instances, suspended: record.suspended })
    if (wanted !== label)
      ledger.addViolation(
        'settings are durable',
        `${entry.name}: ${wanted} was acknowledged, but it is ${label}`,
      )
    const wantedEnv = JSON.stringify([...entry.wanted.env].sort(([a], [b]) => (a < b ? -1 : 1)))
    const shownEnv = JSON.stringify(env.map(({ key, value }) => [key, value]))
    if (wantedEnv !== shownEnv)
      ledger.addViolation(
        'env is durable',
        `${entry.name}: ${wantedEnv} was acknowledged, but it is ${shownEnv}`,
      )
  }
  for (const { id, name } of ledger.services.filter(({ isDeleted }) => isDeleted)) {
    const { status } = await api.call('GET', `/services/${id}`)
    if (status !== 404)
      ledger.addViolation('a deleted service stays deleted', `${name} ${id} answers ${status}`)
  }
}

function* violationsOf({ entry, record }: SettledDeploy, settled: Settled) {
  const { service, answer } = entry
  if (service.isDeleted) {
    if (record) yield { rule: 'a deleted service stays deleted', text: 'still exists' }
    return
  }
  if (!record) {
    yield {
      rule: 'no acknowledged deploy is lost',
      text: `was acknowledged (${entry.kind}) but is unknown`,
    }
    return
  }
  if (record.service_id !== service.id)
    yield { rule: 'no acknowledged deploy is lost', text: 'has another service' }
  // A restart resolves its source when its turn comes.
  const isReuse = answer.source.kind === 'reuse' && record.source.kind === 'reuse'
  if (!isReuse && JSON.stringify(sourceOf(record)) !== JSON.stringify(sourceOf(answer))) {
    const text = `has another source than ${JSON.stringify(answer.source)}`
    yield { rule: 'no acknowledged deploy is lost', text }
  }
  const recordOf = (id: string) => settled.deploys.find(({ entry }) => entry.id === id)?.record ?? null
  const isServing = record.status === 'live' || record.status === 'deactivated'
  if (entry.isCanceled && record.status !== 'canceled') {
    yield { rule: 'a canceled deploy does not continue', text: `was canceled and is ${record.status}` }
  }
  if (/^internal:/.test(record.error ?? '')) yield { rule: 'no deploy is parked', text: record.error }
  else if (record.status === 'failed') yield* failureViolation(entry, record, recordOf)
  if (record.status === 'canceled') yield* cancelViolation(entry, record, settled)
  if (isServing) yield* versionViolation(entry, record, recordOf)
}

/** A pull adds the digest to the requested image. */
function sourceOf({ source }: Body): Body {
  return { ...source, image: source.image?.replace(/@sha256:.*$/, '') ?? null }
}

/** A deploy fails only because of its version, never because of a kill. */
function* failureViolation({ service, kind }: DeployEntry, record: Body, recordOf: RecordOf) {
  const { error } = record
  const flavor = service.app.versionOf(record, recordOf)?.flavor
  if (flavor === 'broken' && /exit code: 1|code 1/.test(error)) return
  if (flavor === 'crashing' && /the instance/.test(error)) return
  if (kind === 'restart' && /this service is not live/.test(error)) return
  // Retention removed the image after the rollback was accepted.
  if (kind === 'rollback' && /the image of \S+ was removed/.test(error)) return
  yield {
    rule: 'no deploy fails because of a kill',
    text: `a ${flavor ?? 'not fetched'} version failed: ${error}`,
  }
}

function* cancelViolation({ isCanceled }: DeployEntry, record: Body, { deploys }: Settled) {
  const rule = 'deploys are canceled only for a reason'
  const [, newer] = /^superseded by (\S+)$/.exec(record.error) ?? []
  if (newer) {
    const deploy = deploys.find(({ entry }) => entry.id === newer)
    if (newer <= record.id || deploy?.record?.service_id !== record.service_id)
      yield { rule, text: record.error }
  } else if (!isCanceled) yield { rule, text: record.error }
}

function* versionViolation(entry: DeployEntry, record: Body, recordOf: RecordOf) {
  const { service, kind, askedCommit, askedDeploy, versionsThen } = entry
  const rule = 'a deploy serves the requested version'
  const version = service.app.versionOf(record, recordOf)
  if (version?.flavor !== 'good') yield { rule, text: `went live with ${version?.flavor} ${version?.page}` }
  if (askedCommit && record.commit_sha !== askedCommit)
    yield { rule, text: `expected ${askedCommit}, got ${record.commit_sha}` }
  if (askedDeploy && record.source.deploy_id !== askedDeploy)
    yield { rule, text: `expected a rollback to ${askedDeploy}, got ${record.source.deploy_id}` }
  const isOfThen = askedCommit || kind === 'restart' || kind === 'rollback'
  if (isOfThen || !version) return
  // The newest version at the time of the request, or a later one.
  if (service.app.versions.indexOf(version) < versionsThen - 1)
    yield { rule, text: `went live with an older version: ${version.page}` }
}
