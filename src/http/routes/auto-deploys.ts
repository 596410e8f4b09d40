// Automatic deploys: which paths a service watches.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { TestWatchPaths, WatchedPath } from '../../api/auto-deploys.ts'
import { openWatchedPaths } from '../../domain/watched-paths.ts'
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

async function testWatchPaths({ context, params, body }: CallById<unknown, TestWatchPaths>) {
  const row = findService(context.storage, params.id)
  const patterns = body.watch_paths ?? row.watch_paths
  checkRow({ ...row, watch_paths: patterns })
  const decisive = openWatchedPaths(patterns)
  const tested: WatchedPath[] = []
  for (const path of body.paths) {
    const found = decisive(path.replace(/^(?:\.?\/)+/, ''))
    const watched = patterns.length === 0 || found?.isExclusion === false
    tested.push({ path, watched, pattern: found?.text ?? null })
    // Long paths take a while: other requests get their turn.
    await setImmediate()
  }
  return tested
}
