// The user of an account at GitLab: authorizes it in the browser, and again when its connection says that the
// provider refuses it, as a refresh token that a killed daemon had sent.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeProvider } from '../../support/git/git-provider.ts'
import type { Drill } from '../drill.ts'
import type { Chance } from '../random.ts'

export interface Account {
  connectionId: string
  figures: Record<string, number>
  /** Looks after the connection until `isOver`. */
  keep(isOver: () => boolean): Promise<void>
  /** Resolves when it is connected; says after a minute that it is not. */
  check(): Promise<void>
}

const redirect_uri = 'https://berth.example.com/git/callback'
const application = { client_id: 'client', client_secret: 'the client secret' }
const rule = 'a connection is connected, or says why not'
const settleMs = 60_000

export async function connectAccount(
  { client, victim, ledger }: Drill,
  provider: FakeProvider,
  chance: Chance,
): Promise<Account> {
  const figures = { authorized: 0, interrupted: 0, 'found invalid': 0 }
  const about = { provider: 'gitlab', base_url: provider.url, report_deploys: true, ...application }
  const begun = await client.ask({ method: 'POST', path: '/git/authorize', body: { ...about, redirect_uri } })
  const body = provider.approve(begun!.url, 'ada')
  const { connection } = (await client.ask({ method: 'POST', path: '/git/callback', body }))!
  const path = `/git/connections/${connection.id}`

  /** What the daemon or the provider interrupts begins again later: every link works once. */
  async function authorize(): Promise<void> {
    const api = await victim.whenUp()
    try {
      const { url } = await api.post('/git/authorize', { connection_id: connection.id, redirect_uri })
      await sleep(chance.between(0, 500))
      await api.post('/git/callback', provider.approve(url, 'ada'))
      figures.authorized++
    } catch (error) {
      figures.interrupted++
      if (/: 500 /.test(String(error))) ledger.addViolation('no request fails inside', String(error))
    }
  }

  return {
    connectionId: connection.id,
    figures,
    async keep(isOver) {
      while (!isOver()) {
        await sleep(chance.between(0, 1000))
        const { status, phase, invalid_reason, error } = await client.get(path)
        const isInvalid = status === 'invalid' && phase !== 'exchanging'
        if (isInvalid && !(invalid_reason && error)) ledger.addViolation(rule, `${invalid_reason}: ${error}`)
        if (isInvalid) figures['found invalid']++
        if (isInvalid || chance.isTrue(0.02)) await authorize()
      }
    },
    async check() {
      for (const deadline = Date.now() + settleMs; ; await sleep(200)) {
        const { status, error } = await client.get(path)
        if (status === 'connected') return
        if (Date.now() > deadline) return ledger.addViolation(rule, `it is ${status}: ${error}`)
      }
    },
  }
}
