// The checks of the commits of a repository at GitLab: some fail, and some of these run again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeProvider } from '../../support/git/git-provider.ts'
import type { Chance } from '../random.ts'

export interface Checks {
  /** How many ended in each way. */
  figures: Record<string, number>
  /** When those of a commit passed. */
  passedAt: Map<string, number>
  begin(sha: string): void
  pass(sha: string): void
  /** Resolves when all have ended. */
  untilEnded(): Promise<void>
}

export function openChecks({ state }: FakeProvider, chance: Chance, report: () => void): Checks {
  const figures: Record<string, number> = {}
  const passedAt = new Map<string, number>()
  const running = new Set<Promise<void>>()
  let id = 0

  /** A job that runs again is another job of the same name. */
  function show(sha: string, status: 'pending' | 'success' | 'failed'): void {
    if (status === 'success') passedAt.set(sha, Date.now())
    if (status !== 'pending') figures[status] = (figures[status] ?? 0) + 1
    const [former] = state.checks.get(sha) ?? []
    const isNew = former === undefined || status === 'pending'
    state.checks.set(sha, [{ id: isNew ? ++id : former.id, name: 'test', status, conclusion: null }])
  }

  async function run(sha: string): Promise<void> {
    for (;;) {
      show(sha, 'pending')
      report()
      await sleep(chance.between(0, 15_000))
      const hasPassed = chance.isTrue(0.6)
      show(sha, hasPassed ? 'success' : 'failed')
      report()
      if (hasPassed || chance.isTrue(0.5)) return
      await sleep(chance.between(0, 10_000))
    }
  }

  return {
    figures,
    passedAt,
    begin(sha) {
      const ended = run(sha).finally(() => running.delete(ended))
      running.add(ended)
    },
    pass: (sha) => show(sha, 'success'),
    async untilEnded() {
      await Promise.all(running)
    },
  }
}
