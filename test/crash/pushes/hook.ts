// A provider that reports pushes and pipelines to the hook of a connection. Like the real ones, it does not
// repeat a report that fails; on the way some are lost, late or doubled, and so out of order.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import type { Chance } from '../random.ts'

export interface Hook {
  /** How many reports had each fate. */
  figures: Record<string, number>
  /** Without a push, it is about the checks of a commit. */
  report(repository: string, push: Push | null, chance: Chance): void
  /** Resolves when no report is on its way. */
  untilSent(): Promise<void>
}

export type Dialect = keyof typeof dialects

interface Push {
  before: string
  after: string
}

interface Report {
  id: string
  isPush: boolean
  body: string
}

const dialects = {
  gitea: ({ id, isPush, body }: Report, secret: string) => ({
    'x-gitea-event': isPush ? 'push' : 'status',
    'x-gitea-delivery': id,
    'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
  }),
  gitlab: ({ id, isPush }: Report, secret: string) => ({
    'x-gitlab-event': isPush ? 'Push Hook' : 'Pipeline Hook',
    'x-gitlab-token': secret,
    'idempotency-key': id,
  }),
}

export async function openHook(drill: Drill, dialect: Dialect, connectionId: string): Promise<Hook> {
  const { secret } = await drill.client.get(`/git/connections/${connectionId}/hook`)
  const figures: Record<string, number> = {}
  const sending = new Set<Promise<void>>()
  const count = (fate: string) => {
    figures[fate] = (figures[fate] ?? 0) + 1
  }

  async function send(report: Report, lateMs: number): Promise<void> {
    await sleep(lateMs)
    const { url } = await drill.victim.whenUp()
    const headers = { 'content-type': 'application/json', ...dialects[dialect](report, secret) }
    const address = `${url}/api/v1/hooks/${dialect}?connection=${connectionId}`
    try {
      const response = await fetch(address, { method: 'POST', body: report.body, headers })
      const { result } = (await response.json()) as { result: string }
      count(result)
      if (response.status !== 200)
        drill.ledger.addViolation('a signed delivery is accepted', `${response.status} ${result}`)
    } catch {
      count('unanswered')
    }
  }

  return {
    figures,
    report(repository, push, chance) {
      const fate = chance.choose({ lost: 25, prompt: 35, late: 20, doubled: 20 })
      // Without a report, a check that passes after a failure is found ten minutes later.
      if (fate === 'lost' && !drill.isOver) return count('lost')
      const url = `http://127.0.0.1/${repository}.git`
      const about = { repository: { clone_url: url }, project: { git_http_url: url } }
      const body = JSON.stringify({ ref: 'refs/heads/main', ...push, ...about })
      const report = { id: randomUUID(), isPush: push !== null, body }
      for (let left = fate === 'doubled' ? 2 : 1; left > 0; left--) {
        const lateMs = fate === 'prompt' ? 0 : chance.between(0, 6000)
        const sent = send(report, lateMs).finally(() => sending.delete(sent))
        sending.add(sent)
      }
    },
    async untilSent() {
      await Promise.all(sending)
    },
  }
}
