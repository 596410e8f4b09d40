// Backups of disks on real Docker: owners, modes and links, as a file that tar reads.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { run } from '../support/system/command.ts'

const suite = daemonSuite()

const fill =
  'cd /data; [ -e kept ] || { echo one > kept; ln kept also; ln -s kept link; mkfifo pipe; mkdir -p a/b; ' +
  'echo secret > a/b/file; chown 1234:567 a/b/file a; chmod 4750 a/b/file; chmod 700 a; chown 5:6 .; ' +
  'dd if=/dev/zero of=big bs=1M count=40 2>/dev/null; }; exec httpd -f -p $PORT -h /data'

/** A service whose instance has filled its disk. */
async function createDisk(t: TestContext) {
  const files = { Dockerfile: await dockerfile() }
  const service = await createService(t, suite.api, files, { disk_mount_path: '/data', start_command: fill })
  assert.equal(service.first.status, 'live', service.first.error)
  return { ...service, disk: `${suite.daemon.prefix}-${service.id}` }
}

const ended = (kind: 'backups' | 'restores', id: string) =>
  until(`${id} to end`, async () => {
    const now: Body = await suite.api.get(`/${kind}/${id}`)
    return now.finished_at !== null && now
  })

test('a backup of a disk has its files with owners, modes and links', async (t) => {
  const { api } = suite
  const { name, id, disk } = await createDisk(t)
  const begun = await api.post(`/disks/${name}/backups`)
  const backup = await ended('backups', begun.id)

  assert.deepEqual([backup.status, backup.error], ['good', null])
  const { kind, service, service_id, datastore, version, trigger } = backup
  assert.deepEqual(
    { kind, service, service_id, disk: backup.disk, datastore, version, trigger },
    { kind: 'disk', service: name, service_id: id, disk, datastore: null, version: null, trigger: 'manual' },
  )
  const content = readFileSync(backup.file)
  assert.equal(createHash('sha256').update(content).digest('hex'), backup.sha256)
  assert.match(backup.file, new RegExp(`/${name}/${name}-[0-9TZ]+-\\w{6}\\.tar\\.gz$`))
  const listed = await run('tar', ['--list', '--verbose', '--numeric-owner', '--file', backup.file])
  const lines = listed
    .trim()
    .split('\n')
    .map((line: string) => line.split(/\s+/))
  const facts = lines.map(([mode, owner, size, , , ...names]: string[]) =>
    [mode, owner, size, names.join(' ')].join(' '),
  )
  assert.deepEqual(facts.sort(), [
    '-rw-r--r-- 0/0 4 disk/also',
    '-rw-r--r-- 0/0 41943040 disk/big',
    '-rwsr-x--- 1234/567 7 disk/a/b/file',
    'drwx------ 1234/567 0 disk/a/',
    'drwxr-xr-x 0/0 0 disk/a/b/',
    'drwxr-xr-x 5/6 0 disk/',
    'hrw-r--r-- 0/0 0 disk/kept link to disk/also',
    'lrwxrwxrwx 0/0 0 disk/link -> kept',
    'prw-r--r-- 0/0 0 disk/pipe',
  ])

  for (const disk of [name, id, backup.disk]) {
    const found = await api.get(`/backups?disk=${disk}`)
    assert.deepEqual(
      found.map((one: Body) => one.id),
      [backup.id],
    )
  }
  assert.deepEqual(await api.get(`/backups?datastore=${name}`), [])
  const missing = await api.call('POST', '/disks/nothing/backups')
  assert.deepEqual([missing.status, missing.body.code], [404, 'not_found'])
})
