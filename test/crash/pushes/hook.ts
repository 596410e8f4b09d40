// A provider that reports pushes to the hook of a connection. Like the real ones, it does not repeat a report
// that fails; on the way some are lost, late or doubled, and so out of order.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import type { Chance } from '../random.ts'

export interface Hook {
  /** How many reports had each fate. */
  figures: Record<string, number>
  report(push: { repository: string; before: string; after: string }, chance: Chance): void
  /** Resolves when no report is on its way. */
  untilSent(): Promise<void>
}

export function createHook(
  drill: Drill,
  { connectionId, secret }: { connectionId: string; secret: string },
): Hook {
  const figures: Record<string, number> = {}
  const sending = new Set<Promise<void>>()
  const count = (fate: string) => {
    figures[fate] = (figures[fate] ?? 0) + 1
  }

  async function send(body: string, deliveryId: string, lateMs: number): Promise<void> {
    await sleep(lateMs)
    const { url } = await drill.victim.whenUp()
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-delivery': deliveryId,
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
    }
    const address = `${url}/api/v1/hooks/gitea?connection=${connectionId}`
    try {
      const response = await fetch(address, { method: 'POST', body, headers })
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
    report({ repository, before, after }, chance) {
      const clone_url = `http://127.0.0.1/${repository}.git`
      const fate = chance.choose({ lost: 25, prompt: 35, late: 20, doubled: 20 })
      if (fate === 'lost') return count('lost')
      const body = JSON.stringify({ ref: 'refs/heads/main', before, after, repository: { clone_url } })
      const deliveryId = randomUUID()
      for (let left = fate === 'doubled' ? 2 : 1; left > 0; left--) {
        const lateMs = fate === 'prompt' ? 0 : chance.between(0, 6000)
        const sent = send(body, deliveryId, lateMs).finally(() => sending.delete(sent))
        sending.add(sent)
      }
    },
    async untilSent() {
      await Promise.all(sending)
    },
  }
}
