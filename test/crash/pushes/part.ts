// Repositories that are pushed to, and what their providers report of it: deliveries are lost, late, doubled
// and out of order, tokens are renewed, providers fail for some seconds, and the daemon is killed. In the end
// each service must have what its branch has, and each provider must show how the deploys ended.
import type { Body } from '../../support/daemon/api.ts'
import type { Drill } from '../drill.ts'
import { countBy, type KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import { list } from '../report.ts'
import { checkOwners } from '../stored.ts'
import { openGitea, openGitlab, type Place } from './place.ts'
import { checkSite, createSite, push, type Site } from './site.ts'
import { checkStatuses } from './statuses.ts'

const kills: KillPlan = {
  moments: { start: 12, status: 50, request: 13, any: 25 },
  statuses: {
    deciding: 5,
    deploying: 5,
    watching: 2,
    queued: 2,
    running: 3,
    live: 3,
    deleted: 1,
    renewing: 20,
    exchanging: 3,
    checking: 5,
    following: 2,
    sending: 4,
  },
  rareShare: 0.1,
}

export const pushes: PartKind = {
  daemonArgs: () => [],
  prepare: async () => ({}),
  async open(drill) {
    const places = [await openGitea(drill), await openGitlab(drill)]
    const [gitea, gitlab] = places as [Place, Place]
    const sites = [
      await createSite(drill, gitea, 'mono'),
      await createSite(drill, gitea, 'tiny'),
      await createSite(drill, gitlab, 'safe'),
      await createSite(drill, gitlab, 'gate', true),
    ]
    return openPart(drill, places, sites)
  },
}

function openPart(drill: Drill, places: Place[], sites: Site[]): Part {
  const { chance, ledger, client } = drill
  const isOver = () => drill.isOver
  const accounts = places.flatMap(({ account }) => account ?? [])
  let deploys: Body[] = []
  return {
    kills,
    use: () => [
      ...sites.map((site) => push(drill, site, chance.fork())),
      ...places.map(({ outage }) => outage.run(isOver)),
      ...accounts.map((account) => account.keep(isOver)),
    ],
    async check(api) {
      let isChecked = false
      const keeping = accounts.map((account) => account.keep(() => isChecked))
      const check = async (site: Site) => {
        const own = await checkSite(api, drill, site)
        await checkStatuses(drill, site, own)
        return own
      }
      await Promise.all(places.map(({ hook }) => hook.untilSent()))
      deploys = (await Promise.all(sites.map(check))).flat()
      isChecked = true
      await Promise.all(keeping)
      for (const account of accounts) await account.check()
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
    owns: (text) => {
      const names = sites.map(({ name }) => name)
      return hasWord(text, [...names, ...sites.map(({ id }) => id), ...deploys.map(({ id }) => id)])
    },
    async removeAll() {
      for (const { id } of sites) await client.remove(`/services/${id}`, 'purge=true')
      for (const { connectionId } of places)
        await client.remove(`/git/connections/${connectionId}`, 'force=true')
    },
    figures: () => [
      ['commits pushed', sites.reduce((sum, { commits }) => sum + commits.size, 0)],
      ...places.map(({ dialect, hook }): [string, string] => [
        `deliveries of ${dialect}`,
        list(hook.figures),
      ]),
      ...places.map(({ dialect, outage }): [string, string] => [
        `outages of ${dialect}`,
        list(outage.figures),
      ]),
      ['deploys', list(countBy(deploys, ({ trigger, status }) => `${trigger} ${status}`))],
      ['statuses', list(countBy(statusesOf(places), ({ state }) => state))],
      ['renewals', renewalsOf(places)],
      ['authorizations', list(accounts[0]!.figures)],
      ['checks', list(Object.assign({}, ...sites.map(({ checks }) => checks?.figures)))],
    ],
    proofs: () => ({
      'deliveries sent': places.reduce((sum, { hook }) => sum + (hook.figures.accepted ?? 0), 0),
      'deploys of pushes': deploys.filter(({ trigger }) => trigger === 'push').length,
      'statuses shown': statusesOf(places).length,
      'tokens renewed': renewalsOf(places),
    }),
  }
}

const statusesOf = (places: Place[]) => places.flatMap(({ provider }) => provider.state.statuses)

/** Those that the provider carried out. */
function renewalsOf(places: Place[]): number {
  const issued = places.flatMap(({ provider }) => [...provider.state.refreshTokens.values()])
  return issued.filter(({ uses }) => uses > 0).length
}
