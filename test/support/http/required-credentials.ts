// The credentials that each route below /api requires. Written by hand, because it is the expectation for
// the route table.
// The first word is the minimum role of a token; the second is how a token limited to services may use the
// route: `service` and `record` for its own ones, `filtered` and `server` always, no word never.
export type RequiredCredentials =
  | 'public'
  | 'session'
  | 'read server'
  | 'read filtered'
  | 'read service'
  | 'read record'
  | 'read'
  | 'deploy service'
  | 'deploy record'
  | 'admin'

const list: Record<RequiredCredentials, string[]> = {
  public: [
    'GET /healthz',
    'GET /api/v1/openapi.json',
    'GET /api/v1/auth/status',
    'POST /api/v1/auth/setup',
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/cli',
    'POST /api/v1/auth/cli/{id}/token',
  ],
  session: [
    'POST /api/v1/auth/password',
    'GET /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions/{id}',
    'GET /api/v1/auth/tokens',
    'POST /api/v1/auth/tokens',
    'DELETE /api/v1/auth/tokens/{id}',
    'GET /api/v1/auth/cli/{id}',
    'POST /api/v1/auth/cli/{id}/approve',
    'POST /api/v1/auth/cli/{id}/deny',
  ],
  'read server': ['GET /api/v1/info'],
  'read filtered': [
    'GET /api/v1/events',
    'GET /api/v1/services',
    'GET /api/v1/certificates',
    'GET /api/v1/deploys',
    'GET /api/v1/jobs',
  ],
  'read service': [
    'GET /api/v1/services/{id}',
    'GET /api/v1/services/{id}/status',
    'GET /api/v1/services/{id}/logs',
    'GET /api/v1/services/{id}/domains',
    'GET /api/v1/services/{id}/env',
    'GET /api/v1/services/{id}/deploys',
    'GET /api/v1/services/{id}/jobs',
    'GET /api/v1/services/{id}/schedule',
    'GET /api/v1/services/{id}/schedule/history',
  ],
  'read record': [
    'GET /api/v1/certificates/{id}/history',
    'GET /api/v1/certificates/{id}/why',
    'GET /api/v1/deploys/{deploy_id}',
    'GET /api/v1/deploys/{deploy_id}/logs',
    'GET /api/v1/deploys/{deploy_id}/history',
    'GET /api/v1/deploys/{deploy_id}/why',
    'GET /api/v1/jobs/{job_id}',
    'GET /api/v1/jobs/{job_id}/logs',
    'GET /api/v1/jobs/{job_id}/history',
    'GET /api/v1/jobs/{job_id}/why',
  ],
  read: [
    'GET /metrics',
    'GET /api/v1/certificate-authority',
    'GET /api/v1/actors',
    'GET /api/v1/git/connections',
    'GET /api/v1/git/connections/{id}',
    'GET /api/v1/git/connections/{id}/history',
    'GET /api/v1/registries',
    'GET /api/v1/registries/{host}',
    'GET /api/v1/datastores',
    'GET /api/v1/datastores/{id}',
    'GET /api/v1/datastores/{id}/history',
    'GET /api/v1/datastores/{id}/upgrade',
    'GET /api/v1/datastores/{id}/why',
    'GET /api/v1/datastores/{id}/restores',
    'GET /api/v1/backups',
    'GET /api/v1/backups/{id}',
    'GET /api/v1/backups/{id}/history',
    'GET /api/v1/backups/{id}/why',
    'GET /api/v1/restores/{id}',
    'GET /api/v1/restores/{id}/history',
    'GET /api/v1/restores/{id}/why',
    'GET /api/v1/disks',
    'GET /api/v1/disks/{name}/chown',
    'GET /api/v1/disks/{name}/chown/history',
    'GET /api/v1/trash',
    'GET /api/v1/edge',
    'GET /api/v1/edge/history',
  ],
  'deploy service': [
    'POST /api/v1/services/{id}/restart',
    'POST /api/v1/services/{id}/suspend',
    'POST /api/v1/services/{id}/resume',
    'POST /api/v1/services/{id}/scale',
    'POST /api/v1/services/{id}/rollback',
    'POST /api/v1/services/{id}/deploys',
    'POST /api/v1/services/{id}/deploys/upload',
    'POST /api/v1/services/{id}/jobs',
  ],
  'deploy record': ['POST /api/v1/deploys/{deploy_id}/cancel', 'POST /api/v1/jobs/{job_id}/cancel'],
  admin: [
    'POST /api/v1/services',
    'PATCH /api/v1/services/{id}',
    'DELETE /api/v1/services/{id}',
    'POST /api/v1/services/{id}/domains',
    'DELETE /api/v1/services/{id}/domains/{domain}',
    'POST /api/v1/certificates/{id}/retry',
    'PUT /api/v1/services/{id}/env',
    'PATCH /api/v1/services/{id}/env',
    'POST /api/v1/git/authorize',
    'POST /api/v1/git/callback',
    'POST /api/v1/git/connections',
    'DELETE /api/v1/git/connections/{id}',
    'GET /api/v1/git/connections/{id}/repositories',
    'GET /api/v1/git/branches',
    'PUT /api/v1/registries/{host}',
    'DELETE /api/v1/registries/{host}',
    'POST /api/v1/datastores',
    'PATCH /api/v1/datastores/{id}',
    'DELETE /api/v1/datastores/{id}',
    'POST /api/v1/datastores/{id}/restart',
    'POST /api/v1/datastores/{id}/upgrade',
    'POST /api/v1/datastores/{id}/upgrade/cancel',
    'GET /api/v1/datastores/{id}/client',
    'POST /api/v1/datastores/{id}/backups',
    'POST /api/v1/datastores/{id}/restores',
    'POST /api/v1/datastores/{id}/restores/upload',
    'DELETE /api/v1/backups/{id}',
    'GET /api/v1/backups/{id}/content',
    'POST /api/v1/restores/{id}/cancel',
    'POST /api/v1/edge/upgrade',
    'POST /api/v1/edge/retry',
    'POST /api/v1/actors/{id}/retry',
    'POST /api/v1/actors/{id}/discard',
    'DELETE /api/v1/disks/{name}',
    'POST /api/v1/disks/{name}/chown',
    'POST /api/v1/trash/{id}/restore',
    'DELETE /api/v1/trash/{id}',
  ],
}

/** By `METHOD /path`. */
export const requiredFor = new Map(
  Object.entries(list).flatMap(([needed, lines]) =>
    lines.map((line) => [line, needed as RequiredCredentials] as const),
  ),
)
