// Automatic deploys: which paths a service watches.
import { z } from 'zod'
import { TestWatchPaths, WatchedPath } from '../../api/auto-deploys.ts'
import { read } from '../../readers/read.ts'
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
    problems: ['too_complex'],
    response: z.array(WatchedPath),
    handler: testWatchPaths,
  }),
])

async function testWatchPaths({ context, params, body, caller }: CallById<unknown, TestWatchPaths>) {
  const row = findService(context.storage, params.id)
  const patterns = body.watch_paths ?? row.watch_paths
  checkRow({ ...row, watch_paths: patterns })
  const paths = body.paths.map((path) => path.replace(/^(?:\.?\/)+/, ''))
  const decisions = await read('decideOnPaths', { patterns, paths }, { owner: caller!.id })
  return body.paths.map((path, index): WatchedPath => {
    const { text = null, isExclusion } = decisions[index] ?? {}
    return { path, watched: patterns.length === 0 || isExclusion === false, pattern: text }
  })
}
