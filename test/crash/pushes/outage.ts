// The bad moments of a provider: for some seconds it fails, limits requests, is slow, or loses what is sent.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeRequest, Override } from '../../support/git/git-provider.ts'
import type { Chance } from '../random.ts'

export interface Outage {
  /** How many there were of each kind. */
  figures: Record<string, number>
  override(request: FakeRequest): Promise<Override>
  isAnswerLost(): boolean
  /** They come and go until `isOver`. */
  run(isOver: () => boolean): Promise<void>
}

const kinds = { failing: 30, limiting: 20, slow: 20, cutting: 20, 'losing answers': 10 }
type Kind = keyof typeof kinds

export function createOutage(chance: Chance): Outage {
  const figures: Record<string, number> = {}
  let kind: Kind | null = null

  const responses: Record<Kind, Override> = {
    failing: { status: 502, text: '<h1>502 Bad Gateway</h1>' },
    limiting: { status: 429, headers: { 'retry-after': '3' }, text: 'Retry later\n' },
    slow: null,
    cutting: 'cut',
    'losing answers': null,
  }

  return {
    figures,
    async override({ path }) {
      // A new token is never issued at once.
      if (kind === 'slow') await sleep(chance.between(500, 5000))
      else if (path.startsWith('/oauth/token')) await sleep(chance.between(50, 800))
      return kind && responses[kind]
    },
    isAnswerLost: () => kind === 'losing answers',
    async run(isOver) {
      while (!isOver()) {
        await sleep(chance.between(3000, 20_000))
        if (isOver()) break
        kind = chance.choose(kinds)
        figures[kind] = (figures[kind] ?? 0) + 1
        await sleep(chance.between(500, 6000))
        kind = null
      }
    },
  }
}
