import type { EdgeSnapshot } from './edge.ts'

/** In `lingering`, a stop has failed and is retried. */
const statuses = {
  starting: 'starting',
  serving: 'serving',
  upgrading: 'upgrading',
  waiting: 'waiting',
  stopping: 'stopping',
  lingering: 'stopping',
  off: 'off',
} as const

export function toRecord(snapshot: EdgeSnapshot) {
  const { id, mode, httpPort, httpsPort, servingSince, routes, error, retryAt, at } = snapshot.context
  const { software, available, upgradeError, upgradedAt } = snapshot.context
  const problem = error ?? snapshot.context.portProblem ?? null
  return {
    id,
    status: statuses[snapshot.value as keyof typeof statuses],
    mode,
    http_port: httpPort,
    https_port: httpsPort,
    routes,
    error: problem?.message ?? null,
    error_code: problem?.code ?? null,
    version: software?.version ?? null,
    image: software?.image ?? null,
    available,
    upgrade_error: upgradeError?.message ?? null,
    upgraded_at: upgradedAt,
    serving_since: servingSince,
    next_attempt_at: retryAt === null ? null : new Date(retryAt).toISOString(),
    created_at: at,
  }
}
