// The two sizes of the suite: `npm test` shows each feature in its main case, and tries a little of each
// drill with a fixed seed, so that a failure is caused by the change under test. With BERTH_TEST_ALL=1 it
// does everything, with new seeds.
import { randomInt } from 'node:crypto'
import { type TestContext, type TestOptions, test } from 'node:test'

export const isWhole = process.env.BERTH_TEST_ALL === '1'

/** For tests of further cases, whose feature another test shows in its main case. */
export function long(name: string, ...rest: [TestFn] | [TestOptions, TestFn]): void {
  const [options, run] = rest.length === 2 ? rest : [{}, rest[0]]
  void test(name, isWhole ? options : { ...options, skip: 'npm run test:all runs it' }, run)
}

type TestFn = (t: TestContext) => void | Promise<void>

export function sized<T>(smoke: T, whole: T): T {
  return isWhole ? whole : smoke
}

/** Also reports it. */
export function seedOf(t: TestContext, smoke: number): number {
  const seed = sized(smoke, randomInt(1_000_000))
  t.diagnostic(`seed ${seed}`)
  return seed
}
