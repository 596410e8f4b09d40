// Where repositories are: a provider with a connection, its hook, and its outages.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createGitProvider, type FakeProvider } from '../../support/git/git-provider.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import type { Drill } from '../drill.ts'
import { type Account, connectAccount } from './account.ts'
import { type Dialect, type Hook, openHook } from './hook.ts'
import { createOutage, type Outage } from './outage.ts'

export interface Place {
  dialect: Dialect
  /** The folder of the repositories. */
  root: string
  provider: FakeProvider
  outage: Outage
  connectionId: string
  hook: Hook
  /** Null for a connection that has a token which never ends. */
  account: Account | null
}

/** A token is renewed when it is used in its last minute, and otherwise after half a minute. */
const accessSeconds = 64

/** Its account is connected with a token. */
export async function openGitea(drill: Drill): Promise<Place> {
  const site = await openProvider(drill)
  const scopes = ['read:user', 'read:repository', 'write:repository']
  const token = site.provider.createToken('ada', { scopes })
  const body = { provider: 'gitea', base_url: site.provider.url, token, report_deploys: true }
  const connected = await drill.client.ask({ method: 'POST', path: '/git/connections', body })
  const hook = await openHook(drill, 'gitea', connected!.id)
  return { dialect: 'gitea', ...site, connectionId: connected!.id, hook, account: null }
}

/** Its account is authorized in the browser, with tokens that are renewed. */
export async function openGitlab(drill: Drill): Promise<Place> {
  const site = await openProvider(drill)
  site.provider.state.accessSeconds = accessSeconds
  const account = await connectAccount(drill, site.provider, drill.chance.fork())
  const { connectionId } = account
  const hook = await openHook(drill, 'gitlab', connectionId)
  return { dialect: 'gitlab', ...site, connectionId, hook, account }
}

async function openProvider({ scope, chance }: Drill) {
  const root = temporaryDirectory(scope)
  mkdirSync(join(root, 'ada'))
  const outage = createOutage(chance.fork())
  const provider = await createGitProvider(scope, { root, override: outage.override })
  provider.state.answersLost = outage.isAnswerLost
  return { root, provider, outage }
}
