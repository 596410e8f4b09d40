// Checks the promises to users: no acknowledged request is lost, and nothing happens without a request.
import type { Api, Body } from '../../support/daemon/api.ts'
import { type ChartCopy, describeHistory, historyFaults } from '../histories.ts'
import { collectEvidence, type Settled, type SettledDeploy, type SettledService } from './settled.ts'
import type { Book, DeployEntry } from './users.ts'

type Fault = [rule: string, text: string]

const chart: ChartCopy = {
  first: 'queued',
  follows: {
    queued: ['running.fetching', 'running.pulling', 'running.starting', 'failing', 'canceling'],
    'running.fetching': ['running.building', 'failing', 'canceling'],
    // A build reports that it waits for its slot, and that it has one.
    'running.building': ['running.building', 'running.preparing', 'running.starting', 'failing', 'canceling'],
    'running.pulling': ['running.preparing', 'running.starting', 'failing', 'canceling'],
    'running.preparing': ['running.starting', 'failing', 'canceling'],
    'running.starting': ['running.checking', 'failing', 'canceling'],
    'running.checking': ['running.switching', 'failing', 'canceling'],
    'running.switching': ['live', 'failing', 'canceling'],
    live: ['live', 'draining'],
    draining: ['deactivated'],
    failing: ['failed'],
    canceling: ['canceled'],
  },
  statusesOf(state) {
    const shown: Record<string, string> = {
      draining: 'deactivated',
      failing: 'failed',
      canceling: 'canceled',
    }
    const region = state.split('.')[0]!
    return [shown[region] ?? region]
  },
}

export async function checkPromises(
  api: Api,
  { drill: { ledger }, services, deploys }: Book,
  settled: Settled,
) {
  for (const deploy of settled.deploys) {
    const { entry, record, history } = deploy
    for (const [rule, text] of faultsOf(deploy, settled)) {
      const evidence = await collectEvidence(api, deploy)
      ledger.addViolation(rule, `${entry.id} of ${entry.service.name}: ${text}`, evidence)
    }
    for (const fault of record === null ? [] : historyFaults(chart, history, record))
      ledger.addViolation('histories follow the chart', `${entry.id}: ${fault}`, describeHistory(history))
  }
  for (const service of settled.services) {
    for (const id of service.deployIds.filter((id) => !deploys.has(id))) {
      const text = `${service.entry.name} has ${id}, which was never acknowledged`
      ledger.addViolation('a request is executed once', text, [
        JSON.stringify(await api.get(`/deploys/${id}`)),
      ])
    }
    for (const [rule, text] of settingFaults(service)) ledger.addViolation(rule, text)
  }
  for (const { id, name } of services.filter(({ isDeleted }) => isDeleted)) {
    const { status } = await api.call('GET', `/services/${id}`)
    if (status !== 404)
      ledger.addViolation('a deleted service stays deleted', `${name} ${id} answers ${status}`)
  }
}

function* settingFaults({ entry: { name, wanted }, record, env }: SettledService): Generator<Fault> {
  const { instances, suspended } = record
  const pairs: [rule: string, wanted: unknown, shown: unknown][] = [
    ['settings are durable', [wanted.instances, wanted.suspended], [instances, suspended]],
    [
      'env is durable',
      [...wanted.env].sort(([one], [other]) => (one < other ? -1 : 1)),
      env.map(({ key, value }) => [key, value]),
    ],
  ]
  for (const [rule, ...both] of pairs) {
    const [asked, shown] = both.map((one) => JSON.stringify(one))
    if (asked !== shown) yield [rule, `${name}: ${asked} was acknowledged, but it is ${shown}`]
  }
}

function* faultsOf({ entry, record }: SettledDeploy, settled: Settled): Generator<Fault> {
  const { service, answer, kind, isCanceled } = entry
  const lost = 'no acknowledged deploy is lost'
  if (service.isDeleted) {
    if (record) yield ['a deleted service stays deleted', 'still exists']
    return
  }
  if (!record) return yield [lost, `was acknowledged (${kind}) but is unknown`]
  if (record.service_id !== service.id) yield [lost, 'has another service']
  // A restart resolves its source when its turn comes.
  const isReuse = answer.source.kind === 'reuse' && record.source.kind === 'reuse'
  if (!isReuse && JSON.stringify(sourceOf(record)) !== JSON.stringify(sourceOf(answer)))
    yield [lost, `has another source than ${JSON.stringify(answer.source)}`]
  if (isCanceled && record.status !== 'canceled')
    yield ['a canceled deploy does not continue', `was canceled and is ${record.status}`]
  if (/^internal:/.test(record.error ?? '')) yield ['no deploy is parked', record.error]
  else if (record.status === 'failed') yield* failureFaults(entry, record, settled)
  if (record.status === 'canceled') yield* cancelFaults(entry, record, settled)
  if (['live', 'deactivated'].includes(record.status)) yield* versionFaults(entry, record, settled)
}

/** A pull adds the digest to the requested image. */
function sourceOf({ source }: Body): Body {
  return { ...source, image: source.image?.replace(/@sha256:.*$/, '') ?? null }
}

/** A deploy fails only because of its version, never because of a kill. */
function* failureFaults(
  { service, kind }: DeployEntry,
  record: Body,
  { recordOf }: Settled,
): Generator<Fault> {
  const { error } = record
  const flavor = service.app.versionOf(record, recordOf)?.flavor
  if (flavor === 'broken' && /exit code: 1|code 1/.test(error)) return
  if (flavor === 'crashing' && /the instance/.test(error)) return
  if (kind === 'restart' && /this service is not live/.test(error)) return
  // Retention removed the image after the rollback was accepted.
  if (kind === 'rollback' && /the image of \S+ was removed/.test(error)) return
  yield ['no deploy fails because of a kill', `a ${flavor ?? 'not fetched'} version failed: ${error}`]
}

function* cancelFaults({ isCanceled }: DeployEntry, record: Body, { recordOf }: Settled): Generator<Fault> {
  const [, newer] = /^superseded by (\S+)$/.exec(record.error) ?? []
  const isSuperseded =
    newer !== undefined && newer > record.id && recordOf(newer)?.service_id === record.service_id
  const isFine = newer === undefined ? isCanceled : isSuperseded
  if (!isFine) yield ['deploys are canceled only for a reason', record.error]
}

function* versionFaults(entry: DeployEntry, record: Body, { recordOf }: Settled): Generator<Fault> {
  const { service, kind, askedCommit, askedDeploy, versionsThen } = entry
  const rule = 'a deploy serves the requested version'
  const version = service.app.versionOf(record, recordOf)
  if (version?.flavor !== 'good') yield [rule, `went live with ${version?.flavor} ${version?.page}`]
  if (askedCommit && record.commit_sha !== askedCommit)
    yield [rule, `expected ${askedCommit}, got ${record.commit_sha}`]
  if (askedDeploy && record.source.deploy_id !== askedDeploy)
    yield [rule, `expected a rollback to ${askedDeploy}, got ${record.source.deploy_id}`]
  const isOfThen = askedCommit || kind === 'restart' || kind === 'rollback'
  // The newest version at the time of the request, or a later one.
  if (!isOfThen && version && service.app.versions.indexOf(version) < versionsThen - 1)
    yield [rule, `went live with an older version: ${version.page}`]
}
