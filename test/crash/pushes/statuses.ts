// What a provider shows next to the commits that were deployed: how the newest deploy of each ended.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../../support/daemon/api.ts'
import { newestStatuses } from '../../support/git/git-provider/state.ts'
import { createLimit, type Drill } from '../drill.ts'
import type { Dialect } from './hook.ts'
import { commitOf, type Site, settleMs } from './site.ts'

/** A copy of the table of the manual, written by hand. */
const words: Record<Dialect, Record<string, string>> = {
  gitea: { live: 'success', deactivated: 'success', failed: 'failure', canceled: 'warning' },
  gitlab: { live: 'success', deactivated: 'success', failed: 'failed', canceled: 'canceled' },
}

const shown = 'the provider shows how each deploy ended'
const served = 'a success is reported after the deploy serves'

export async function checkStatuses(drill: Drill, site: Site, deploys: Body[]): Promise<void> {
  const { ledger } = drill
  const { name, place } = site
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(200)) {
    const faults = faultsOf(site, deploys)
    if (faults.length > 0 && !isTooLate()) continue
    for (const fault of faults) ledger.addViolation(shown, `${name}: ${fault}`)
    break
  }
  const repository = `ada/${name}`
  const successes = place.provider.state.statuses.filter((one) => one.repository === repository)
  for (const { sha, createdAt } of successes.filter(({ state }) => state === 'success')) {
    const isEarlier = ({ status, finished_at }: Body) =>
      ['live', 'deactivated'].includes(status) && Date.parse(finished_at) <= createdAt.getTime()
    if (!deploys.some((one) => commitOf(one) === sha && isEarlier(one)))
      ledger.addViolation(served, `${name}: ${sha} at ${createdAt.toISOString()}`)
  }
}

function faultsOf({ name, place: { dialect, provider } }: Site, deploys: Body[]): string[] {
  const shas = new Set(deploys.map(commitOf).filter((sha) => sha !== null))
  const reported = provider.state.statuses.filter((one) => one.repository === `ada/${name}`)
  const unknown = reported.filter(({ sha }) => !shas.has(sha))
  const wrong = [...shas].flatMap((sha) => {
    // Newest first.
    const deploy = deploys.find((one) => commitOf(one) === sha && one.source.kind === 'git')
    if (!deploy) return []
    const [status] = newestStatuses(provider.state, `ada/${name}`, sha)
    const isReasoned = deploy.status !== 'failed' || /^Failed while \w+: \S/.test(status?.description ?? '')
    if (status?.state === words[dialect][deploy.status] && isReasoned) return []
    return [`${deploy.id} of ${sha} is ${deploy.status}, shown as ${status?.state}: ${status?.description}`]
  })
  return [...wrong, ...unknown.map(({ sha, state }) => `${sha}, which was never deployed, is ${state}`)]
}
