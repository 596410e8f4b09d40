// A service of a repository that is pushed to. In the end it must have what its branch has: once, unless the
// head asks for no deploy, cannot be built, or has checks that failed.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../../support/daemon/api.ts'
import { pageApp } from '../../support/daemon/service.ts'
import { createRepository, type TestRepository } from '../../support/git/repository.ts'
import { createLimit, type Drill } from '../drill.ts'
import type { Chance } from '../random.ts'
import { type Checks, openChecks } from './checks.ts'
import type { Place } from './place.ts'

export interface Site {
  name: string
  id: string
  place: Place
  repository: TestRepository
  /** Those of the branch, by id. */
  commits: Map<string, Commit>
  /** Null for a service that does not wait for them. */
  checks: Checks | null
}

type Commit = 'plain' | 'skipped' | 'broken'

/** A look at a source, and a report, that failed are repeated up to ten minutes later. */
export const settleMs = 10 * 60_000
/** The least that a service accepts: what no delivery reports must be found too. */
const pollSeconds = 30
/** A head waits 20 seconds for its checks. */
const longestPauseMs = { head: 5000, checks: 40_000 }
const brokenFiles = { Dockerfile: 'FROM scratch\nCOPY missing /missing\n' }
const [sameHead, follows] = ['a head is deployed once', 'a service has what its branch has']
const afterChecks = 'a head is deployed after its checks have passed'

export async function createSite(
  { client, scope, chance, victim }: Drill,
  place: Place,
  name: string,
  waitsForChecks = false,
): Promise<Site> {
  const repository = createRepository(scope, { root: join(place.root, 'ada'), name: `${name}.git` })
  const first = repository.commit('First', await pageApp(`${name} ${victim.prefix}`))
  const report = () => place.hook.report(`ada/${name}`, null, chance)
  const checks = waitsForChecks ? openChecks(place.provider, chance.fork(), report) : null
  checks?.pass(first)
  const body = {
    name,
    repo_url: `${place.provider.url}/ada/${name}.git`,
    branch: 'main',
    drain_seconds: 0,
    poll_seconds: pollSeconds,
    deploy_when: waitsForChecks ? 'checks' : 'push',
  }
  const created = await client.ask({ method: 'POST', path: '/services', body })
  return { name, id: created!.id, place, repository, commits: new Map([[first, 'plain']]), checks }
}

/** Pushes until the run ends; sometimes takes commits back. */
export async function push(drill: Drill, site: Site, chance: Chance): Promise<void> {
  const { name, place, repository, commits, checks } = site
  for (let number = 2; !drill.isOver; number++) {
    await pause(drill, chance.between(0, longestPauseMs[checks ? 'checks' : 'head']))
    const before = headOf(site)
    if (chance.isTrue(0.15) && commits.size > 2) {
      repository.git('reset', '--hard', '--quiet', chance.pick([...commits.keys()]))
    } else {
      const commit = chance.choose({ plain: 70, skipped: 20, broken: 10 })
      const mark = commit === 'skipped' ? ' [skip deploy]' : ''
      const { Dockerfile } = await pageApp(name)
      const files = commit === 'broken' ? brokenFiles : { Dockerfile: Dockerfile! }
      const sha = repository.commit(`${number}${mark}`, { ...files, 'www/count': `${number}` })
      commits.set(sha, commit)
      checks?.begin(sha)
    }
    place.hook.report(`ada/${name}`, { before, after: headOf(site) }, chance)
  }
}

async function pause(drill: Drill, ms: number): Promise<void> {
  for (const until = Date.now() + ms; Date.now() < until && !drill.isOver; ) await sleep(200)
}

const headOf = ({ repository }: Site) => repository.git('rev-parse', 'HEAD')

/** Returns all deploys of the service. */
export async function checkSite(api: Api, drill: Drill, site: Site): Promise<Body[]> {
  const { ledger } = drill
  const { name, id, commits, checks } = site
  await checks?.untilEnded()
  const head = headOf(site)
  const isWanted = commits.get(head) !== 'skipped' && (checks?.passedAt.has(head) ?? true)
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(200)) {
    const service = await api.get(`/services/${id}`)
    const { decision } = service.auto_deploys
    const isDone = decision?.head === head && (!isWanted || (await hasDeployed(api, site, service, head)))
    if (isDone && decision.deploy_id && !isWanted)
      ledger.addViolation(follows, `${name}: ${head} is not to be deployed, but began ${decision.deploy_id}`)
    if (isDone) break
    if (!isTooLate()) continue
    ledger.addViolation(follows, `${name}: the head is ${head}`, [JSON.stringify(service.auto_deploys)])
    break
  }
  const deploys: Body[] = await api.get(`/services/${id}/deploys?limit=500`)
  checkBegun(drill, site, deploys)
  return deploys
}

/** A head that cannot be built fails, and what serves stays. */
async function hasDeployed(api: Api, { id, commits }: Site, service: Body, head: string): Promise<boolean> {
  const [newest] = await api.get(`/services/${id}/deploys?limit=1`)
  if (commits.get(head) === 'broken') return newest.error_code === 'build_failed' && commitOf(newest) === head
  const { live_deploy_id } = service
  return live_deploy_id !== null && (await api.get(`/deploys/${live_deploy_id}`)).commit_sha === head
}

function checkBegun({ ledger }: Drill, { name, checks }: Site, deploys: Body[]): void {
  const begun = deploys.filter(({ trigger }) => trigger === 'push')
  for (const [at, deploy] of begun.entries()) {
    const former = begun[at + 1]
    const sha = commitOf(deploy)!
    if (former && commitOf(former) === sha && former.error_code !== 'git_remote_unreachable')
      ledger.addViolation(sameHead, `${name}: ${deploy.id} has the commit of ${former.id}, ${sha}`)
    const passedAt = checks?.passedAt.get(sha) ?? (checks ? Number.POSITIVE_INFINITY : 0)
    if (Date.parse(deploy.created_at) < passedAt)
      ledger.addViolation(afterChecks, `${name}: ${deploy.id} of ${sha}`)
  }
}

export function commitOf({ commit_sha, source }: Body): string | null {
  return commit_sha ?? source.commit
}
