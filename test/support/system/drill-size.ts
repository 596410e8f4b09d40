// The two sizes of a drill: `npm test` tries a little of each with a fixed seed, so that a failure is caused
// by the change under test. With BERTH_TEST_ALL=1 it does everything, with a new seed.
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

const isWhole = process.env.BERTH_TEST_ALL === '1'

export function sized<T>(smoke: T, whole: T): T {
  return isWhole ? whole : smoke
}

/** Also reports it. */
export function seedOf(t: TestContext, smoke: number): number {
  const seed = sized(smoke, randomInt(1_000_000))
  t.diagnostic(`seed ${seed}`)
  return seed
}
