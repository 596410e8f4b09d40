// The instances of a service and their roles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import type { ServiceStatus } from '../../../src/api/status.ts'
import type { InstanceStatus } from '../../../src/http/pipeline/context.ts'
import { startChecked } from '../../support/http/checked-api.ts'

const instanceOf = (deployId: string): InstanceStatus => ({
  container_id: 'c'.repeat(64),
  name: `berth-${deployId}-1`,
  deploy_id: deployId,
  state: 'running',
  address: null,
  started_at: null,
  restart_count: 0,
  cpu_percent: null,
  memory_bytes: null,
  memory_limit_bytes: null,
  cpu_limit: null,
  oom_killed: false,
  health: null,
  exit_code: null,
})

test('each instance shows its role, and live ones are separate from those of earlier deploys', async (t) => {
  const { context, call, create, setDeploy } = await startChecked(t)
  await create({ name: 'web', repo_url: 'https://git.test/owner/name', deploy: false })
  // The later of the two that are live is the one of the service.
  const statuses = ['deactivated', 'live', 'live', 'failed', 'canceled', 'queued', 'running'] as const
  const ids: string[] = []
  for (const status of statuses) {
    const { id } = (await call('POST', '/services/web/deploys')).body as unknown as Deploy
    if (status !== 'queued') await setDeploy(id, { status })
    ids.push(id)
  }
  const instances = async () => [...ids, `dep-${'0'.repeat(26)}`].map(instanceOf)
  context.observe = { ...context.observe, instances }

  const { body } = await call('GET', '/services/web/status')

  const roles = (body as unknown as ServiceStatus).instances.map(({ role }) => role)
  const previous = ['draining', 'draining', 'live', 'removing', 'removing']
  assert.deepEqual(roles, [...previous, 'starting', 'starting', null])
})
