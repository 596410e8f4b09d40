// `berth server-backups`, and what `berth status` says of a restored server.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerBackup } from '../../../src/api/server-backup.ts'
import { startFakeBerth } from '../../support/cli/berth.ts'
import { problem } from '../../support/cli/fake-server.ts'

const stored: ServerBackup = {
  id: 'sbk-2',
  trigger: 'schedule',
  status: 'stored',
  phase: null,
  error: null,
  error_code: null,
  error_details: null,
  hint: null,
  place: 'offsite',
  file: 's3://shop/berth-20260102T030405Z-9k3f2a.backup.age',
  size_bytes: 3 * 1024 * 1024,
  sha256: 'a',
  key_fingerprint: '0123456789abcdef',
  data: [],
  created_at: new Date().toISOString(),
  finished_at: new Date().toISOString(),
  revision: 1,
  by: null,
}
const failed = { ...stored, id: 'sbk-1', status: 'failed', size_bytes: null, key_fingerprint: null }

test('server-backups shows where each is, or why it failed', async (t) => {
  const body = [stored, { ...failed, trigger: 'manual', error: 'nothing listens there' }]
  const { berth } = await startFakeBerth(t, () => ({ body }))

  const { code, stdout } = await berth('server-backups')

  const [heading, first, second] = stdout.split('\n')
  equal(code, 0)
  match(heading ?? '', /^ID +STATUS +SIZE +BY +MADE +KEY +NOTE$/)
  match(first ?? '', /^sbk-2 +stored +3(\.0)? MiB +schedule +\S.* 0123456789abcdef +s3:/)
  match(second ?? '', /^sbk-1 +failed +hand +\S.* nothing listens there$/)
  deepEqual(JSON.parse((await berth('server-backups', '--json')).stdout), body)
})

const idle = { state: 'suspended', desired_instances: 0, instances: [], reason: null, traffic: null }

for (const [what, info, words] of [
  ['held', { body: { held: { restored_at: 'a', backup_at: 'b' } } }, /until on its host: berthd activate$/m],
  ['active', { body: { held: null } }, null],
  ['not to be asked', problem(403, 'forbidden', 'the token is limited to services'), null],
] as const) {
  test(`status of a server that is ${what}`, async (t) => {
    const { berth } = await startFakeBerth(t, ({ path }) => {
      if (path.endsWith('/info')) return info
      return { body: path.includes('/alerts') ? [] : idle }
    })

    const { code, stdout } = await berth('status', 'shop')

    equal(code, 0)
    if (words) match(stdout, words)
    else doesNotMatch(stdout, /activate/)
  })
}
