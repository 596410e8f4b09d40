// Rejected fields, named as the user typed them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldName } from '../../../src/cli/client/client.ts'
import { settingNames } from '../../../src/domain/service-settings.ts'

test('a field is named by the variable, the flag or the value that the user typed', () => {
  const body = {
    set: [
      { key: 'A', value: '' },
      { key: 'MY-KEY', value: 'hunter2' },
    ],
    env: [{ key: 'B', value: 'hunter2' }],
    unset: ['C'],
    custom_domains: ['a_b.test'],
    deploy_id: 'dep-1',
    build_args: { 'D-E': '1' },
  }
  const names = {
    'set.1.key': 'MY-KEY',
    'set.0.value': 'A',
    'env.0.value': 'B',
    'unset.0': 'C',
    'custom_domains.0': 'a_b.test',
    deploy_id: 'dep-1',
    'build_args.D-E': '--build-arg D-E',
    'build_env.0': '--build-env',
    memory_limit_mb: '--memory',
    disk_mount_path: '--disk',
    repo_url: '--repo',
    timeout_seconds: '--timeout',
    backup_keep: '--backup-keep',
    name: 'name',
    port: 'port',
    'set.9.key': 'set.9.key',
  }
  const shown = Object.keys(names).map((path) => fieldName(path, body))
  assert.deepEqual(shown, Object.values(names))
})

test('no setting is named as in the API', () => {
  for (const name of settingNames.filter((name) => name !== 'custom_domains')) {
    assert.doesNotMatch(fieldName(name, {}), /_/, name)
  }
})
