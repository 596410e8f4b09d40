// Two repositories that are pushed to, and what a provider reports of it: deliveries are lost, late, doubled
// and out of order, and the daemon is killed. In the end each service must have what its branch has.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../../support/daemon/api.ts'
import { pageApp } from '../../support/daemon/service.ts'
import { createGitProvider, type FakeProvider } from '../../support/git/git-provider.ts'
import { createRepository, type TestRepository } from '../../support/git/repository.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { createLimit, type Drill } from '../drill.ts'
import { countBy, type KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import type { Chance } from '../random.ts'
import { list } from '../report.ts'
import { checkOwners } from '../stored.ts'
import { createHook, type Hook } from './hook.ts'

interface Site {
  name: string
  id: string
  repository: TestRepository
  /** The commits of the branch, by id. */
  isSkipped: Map<string, boolean>
}

interface Book {
  drill: Drill
  provider: FakeProvider
  hook: Hook
  sites: Site[]
}

const names = ['mono', 'tiny']
const kills: KillPlan = {
  moments: { start: 12, status: 45, request: 18, any: 25 },
  statuses: { deciding: 5, deploying: 5, watching: 2, queued: 2, running: 3, live: 3, deleted: 1 },
  rareShare: 0.1,
}
const settleMs = 200_000
/** The least that a service accepts: what no delivery reports must be found too. */
const pollSeconds = 30
const sameHead = 'a head is deployed once'
const follows = 'a service has what its branch has'

export const pushes: PartKind = {
  daemonArgs: () => [],
  prepare: async () => ({}),
  async open(drill) {
    const root = temporaryDirectory(drill.scope)
    mkdirSync(join(root, 'ada'))
    const provider = await createGitProvider(drill.scope, { root })
    const account = { provider: 'gitea', base_url: provider.url, token: provider.createToken('ada') }
    const connection = await drill.client.ask({ method: 'POST', path: '/git/connections', body: account })
    const { secret } = await drill.client.get(`/git/connections/${connection!.id}/hook`)
    const hook = createHook(drill, { connectionId: connection!.id, secret })
    const book: Book = { drill, provider, hook, sites: [] }
    for (const name of names) book.sites.push(await createSite(book, root, name))
    return openPart(book, connection!.id)
  },
}

async function createSite({ drill, provider }: Book, root: string, name: string): Promise<Site> {
  const repository = createRepository(drill.scope, { root: join(root, 'ada'), name: `${name}.git` })
  const first = repository.commit('First', await pageApp(`${name} ${drill.victim.prefix}`))
  const body = {
    name,
    repo_url: `${provider.url}/ada/${name}.git`,
    branch: 'main',
    drain_seconds: 0,
    poll_seconds: pollSeconds,
  }
  const created = await drill.client.ask({ method: 'POST', path: '/services', body })
  return { name, id: created!.id, repository, isSkipped: new Map([[first, false]]) }
}

function openPart(book: Book, connectionId: string): Part {
  const { drill, sites, hook } = book
  const { chance, ledger, client } = drill
  let deploys: Body[] = []
  return {
    kills,
    use: () => sites.map((site) => push(book, site, chance.fork())),
    async check(api) {
      await hook.untilSent()
      deploys = (await Promise.all(sites.map((site) => checkSite(api, drill, site)))).flat()
    },
    checkRows(view, isEmpty) {
      const actors = view.actors.filter(({ id }) => !id.startsWith('git-'))
      checkOwners({ ...view, actors }, drill, isEmpty ? [] : sites.map(({ id }) => id))
      for (const key of isEmpty ? view.keysOf('hook_deliveries_by_service') : [])
        if (!key.startsWith('["-"')) ledger.addViolation('nothing on disk is orphaned', `a delivery: ${key}`)
      for (const key of view.keysOf('hook_deliveries_open'))
        ledger.addViolation('every delivery is answered', key)
    },
    loggedIds: () => deploys.map(({ id }) => id),
    owns: (text) => hasWord(text, [...names, ...sites.map(({ id }) => id), ...deploys.map(({ id }) => id)]),
    async removeAll() {
      for (const { id } of sites) await client.remove(`/services/${id}`, 'purge=true')
      await client.remove(`/git/connections/${connectionId}`, 'force=true')
    },
    figures: () => [
      ['commits pushed', sites.reduce((sum, { isSkipped }) => sum + isSkipped.size, 0)],
      ['deliveries', list(hook.figures)],
      ['deploys', list(countBy(deploys, ({ trigger, status }) => `${trigger} ${status}`))],
    ],
    proofs: () => ({
      'deliveries sent': hook.figures.accepted ?? 0,
      'deploys of pushes': deploys.filter(({ trigger }) => trigger === 'push').length,
    }),
  }
}

/** Pushes until the run ends; sometimes takes commits back. */
async function push({ drill, hook }: Book, site: Site, chance: Chance): Promise<void> {
  const { repository, isSkipped } = site
  for (let number = 2; !drill.isOver; number++) {
    await sleep(chance.between(0, 5000))
    const before = repository.git('rev-parse', 'HEAD')
    if (chance.isTrue(0.15) && isSkipped.size > 2) {
      repository.git('reset', '--hard', '--quiet', chance.pick([...isSkipped.keys()]))
    } else {
      const skips = chance.isTrue(0.2)
      const sha = repository.commit(`${number}${skips ? ' [skip deploy]' : ''}`, { 'www/count': `${number}` })
      isSkipped.set(sha, skips)
    }
    const after = repository.git('rev-parse', 'HEAD')
    hook.report({ repository: `ada/${site.name}`, before, after }, chance)
  }
}

/** Returns all deploys of the service. */
async function checkSite(api: Api, drill: Drill, { name, id, repository, isSkipped }: Site): Promise<Body[]> {
  const { ledger } = drill
  const head = repository.git('rev-parse', 'HEAD')
  const live = async ({ live_deploy_id }: Body) =>
    live_deploy_id === null ? null : (await api.get(`/deploys/${live_deploy_id}`)).commit_sha
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(200)) {
    const service = await api.get(`/services/${id}`)
    const { decision } = service.auto_deploys
    const isDecided = decision?.head === head
    const isDone = isDecided && (isSkipped.get(head) || (await live(service)) === head)
    if (isDone && decision.deploy_id && isSkipped.get(head))
      ledger.addViolation(follows, `${name}: ${head} asks for no deploy, but began ${decision.deploy_id}`)
    if (isDone) break
    if (!isTooLate()) continue
    ledger.addViolation(follows, `${name}: the head is ${head}`, [JSON.stringify(service.auto_deploys)])
    break
  }
  const deploys: Body[] = await api.get(`/services/${id}/deploys?limit=500`)
  const begun = deploys.filter(({ trigger }) => trigger === 'push')
  for (const [at, { id, commit_sha, source }] of begun.entries()) {
    const former = begun[at + 1]
    if (former && (former.commit_sha ?? former.source.commit) === (commit_sha ?? source.commit))
      ledger.addViolation(sameHead, `${name}: ${id} has the commit of ${former.id}, ${commit_sha}`)
  }
  return deploys
}
