// Automatic deploys: which paths a service watches.
import { z } from 'zod'
import { TestWatchPaths, WatchedPath } from '../../api/auto-deploys.ts'
import { sharedTurns } from '../../async/shared-turns.ts'
import { openWatchedPaths } from '../../domain/watched-paths.ts'
import { invalidField, RetryLater } from '../../errors.ts'
import { type CallById, post, tagged } from '../pipeline/route.ts'
import { findService } from '../records/service-record.ts'
import { checkRow } from '../rules/service-rules.ts'
import { readsService } from './record-routes.ts'

export const autoDeployRoutes = tagged('Services', [
  post('/services/{id}/watch-paths/test', {
    ...readsService,
    summary: 'Says which paths a service watches, also with other patterns than its own',
    body: TestWatchPaths,
    // It changes nothing.
    isAudited: false,
    acceptsIdempotencyKey: false,
    response: z.array(WatchedPath),
    handler: testWatchPaths,
  }),
])

/** Of callers: each has one test at a time. */
const testing = new Set<string>()
const maxTests = 4
/** Steps of the comparison: as many as the characters of all paths times those of all patterns. */
const maxSteps = 50_000_000

async function testWatchPaths({ context, params, body, caller }: CallById<unknown, TestWatchPaths>) {
  const row = findService(context.storage, params.id)
  const patterns = body.watch_paths ?? row.watch_paths
  checkRow({ ...row, watch_paths: patterns })
  if (lengthOf(body.paths) * lengthOf(patterns) > maxSteps)
    throw invalidField(
      'paths',
      'are too long to be compared with these patterns',
      'test fewer of them at a time',
    )
  const { id } = caller!
  if (testing.has(id) || testing.size >= maxTests)
    throw new RetryLater('slow_down', 'another test of watched paths is running', 1)
  testing.add(id)
  try {
    return await sharedTurns.runSteps(id, testPaths(patterns, body.paths))
  } finally {
    testing.delete(id)
  }
}

function* testPaths(patterns: string[], paths: string[]): Generator<void, WatchedPath[]> {
  const decisive = openWatchedPaths(patterns)
  const tested: WatchedPath[] = []
  for (const path of paths) {
    const found = yield* decisive(path.replace(/^(?:\.?\/)+/, ''))
    const watched = patterns.length === 0 || found?.isExclusion === false
    tested.push({ path, watched, pattern: found?.text ?? null })
  }
  return tested
}

function lengthOf(texts: string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}
