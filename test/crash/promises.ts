// Checks of what was promised to the users: nothing acknowledged is lost, nothing happens that nobody asked
// for.
import type { Api, Body } from '../support/api.ts'
import type { DeployEntry, Ledger } from './ledger.ts'
import { evidenceOf, type Settled, type SettledDeploy } from './settled.ts'

type RecordOf = (deployId: string) => Body | null

export async function checkPromises(api: Api, ledger: Ledger, settled: Settled): Promise<void> {
  for (const deploy of settled.deploys) {
    for (const { rule, text } of breachesOf(deploy, settled)) {
      ledger.breach(
        rule,
        `${deploy.entry.id} of ${deploy.entry.service.name}: ${text}`,
        await evidenceOf(api, deploy),
      )
    }
  }
  for (const { entry, record, env, deployIds } of settled.services) {
    for (const id of deployIds.filter((id) => !ledger.deploys.has(id))) {
      const record = await api.get(`/deploys/${id}`)
      ledger.breach('a request is carried out once', `${entry.name} has ${id}, which nobody knows`, [
        JSON.stringify(record),
      ])
    }
    const { instances, suspended } = entry.wanted
    const wanted = JSON.stringify({ instances, suspended })
    const shown = JSON.stringify({ instances: record.instances, suspended: record.suspended })
    if (wanted !== shown)
      ledger.breach('settings are kept', `${entry.name}: ${wanted} was acknowledged, ${shown} is`)
    const wantedEnv = JSON.stringify([...entry.wanted.env].sort(([a], [b]) => (a < b ? -1 : 1)))
    const shownEnv = JSON.stringify(env.map(({ key, value }) => [key, value]))
    if (wantedEnv !== shownEnv)
      ledger.breach('env is kept', `${entry.name}: ${wantedEnv} was acknowledged, ${shownEnv} is`)
  }
  for (const { id, name } of ledger.services.filter(({ isDeleted }) => isDeleted)) {
    const { status } = await api.call('GET', `/services/${id}`)
    if (status !== 404) ledger.breach('a deleted service stays deleted', `${name} ${id} answers ${status}`)
  }
}

function* breachesOf({ entry, record }: SettledDeploy, settled: Settled) {
  const { service, answer } = entry
  if (service.isDeleted) {
    if (record) yield { rule: 'a deleted service stays deleted', text: 'is still known' }
    return
  }
  if (!record) {
    yield {
      rule: 'no acknowledged deploy is lost',
      text: `was acknowledged (${entry.kind}) and is not known`,
    }
    return
  }
  if (record.service_id !== service.id)
    yield { rule: 'no acknowledged deploy is lost', text: 'has another service' }
  // What a restart runs again is settled when it has its turn.
  const isReuse = answer.source.kind === 'reuse' && record.source.kind === 'reuse'
  if (!isReuse && JSON.stringify(sourceOf(record)) !== JSON.stringify(sourceOf(answer))) {
    const text = `has another source than ${JSON.stringify(answer.source)}`
    yield { rule: 'no acknowledged deploy is lost', text }
  }
  const recordOf = (id: string) => settled.deploys.find(({ entry }) => entry.id === id)?.record ?? null
  const isServing = record.status === 'live' || record.status === 'deactivated'
  if (entry.isCanceled && record.status !== 'canceled') {
    yield { rule: 'a canceled deploy never goes on', text: `was canceled and is ${record.status}` }
  }
  if (/^internal:/.test(record.error ?? '')) yield { rule: 'no deploy is parked', text: record.error }
  else if (record.status === 'failed') yield* failureBreach(entry, record, recordOf)
  if (record.status === 'canceled') yield* cancelBreach(entry, record, settled)
  if (isServing) yield* versionBreach(entry, record, recordOf)
}

/** A pull adds the digest to the image that was asked for. */
function sourceOf({ source }: Body): Body {
  return { ...source, image: source.image?.replace(/@sha256:.*$/, '') ?? null }
}

/** A deploy fails for what its version is, never for a kill. */
function* failureBreach({ service, kind }: DeployEntry, record: Body, recordOf: RecordOf) {
  const { error } = record
  const flavor = service.app.versionOf(record, recordOf)?.flavor
  if (flavor === 'broken' && /exit code: 1|code 1/.test(error)) return
  if (flavor === 'crashing' && /the instance/.test(error)) return
  if (kind === 'restart' && /nothing of this service is live/.test(error)) return
  // Retention took the image after the rollback was accepted.
  if (kind === 'rollback' && /the image of \S+ was removed/.test(error)) return
  yield {
    rule: 'no deploy fails because of a kill',
    text: `a ${flavor ?? 'not fetched'} version failed: ${error}`,
  }
}

function* cancelBreach({ isCanceled }: DeployEntry, record: Body, { deploys }: Settled) {
  const rule = 'deploys are canceled by somebody'
  const [, newer] = /^superseded by (\S+)$/.exec(record.error) ?? []
  if (newer) {
    const found = deploys.find(({ entry }) => entry.id === newer)
    if (newer <= record.id || found?.record?.service_id !== record.service_id)
      yield { rule, text: record.error }
  } else if (!isCanceled) yield { rule, text: record.error }
}

function* versionBreach(entry: DeployEntry, record: Body, recordOf: RecordOf) {
  const { service, kind, askedCommit, askedDeploy, versionsThen } = entry
  const rule = 'a deploy serves what it was asked for'
  const version = service.app.versionOf(record, recordOf)
  if (version?.flavor !== 'good') yield { rule, text: `went live with ${version?.flavor} ${version?.page}` }
  if (askedCommit && record.commit_sha !== askedCommit)
    yield { rule, text: `${askedCommit} was asked, not ${record.commit_sha}` }
  if (askedDeploy && record.source.deploy_id !== askedDeploy)
    yield { rule, text: `it should go back to ${askedDeploy}, not to ${record.source.deploy_id}` }
  const isOfThen = askedCommit || kind === 'restart' || kind === 'rollback'
  if (isOfThen || !version) return
  // The newest version, as it was when it was asked for or later.
  if (service.app.versions.indexOf(version) < versionsThen - 1)
    yield { rule, text: `went live with an older version: ${version.page}` }
}
