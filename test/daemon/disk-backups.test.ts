// Backups and restores of disks on real Docker: owners, modes and links, and hostile files.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import type { Body } from '../support/daemon/api.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { run } from '../support/system/command.ts'
import { long } from '../support/system/drill-size.ts'

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

/** What a shell in the instance of the service prints. */
async function inside(name: string, script: string): Promise<string> {
  const { instances } = await suite.api.get(`/services/${name}/status`)
  return (await run('docker', ['exec', instances[0].name, 'sh', '-c', script])).trim()
}

const volumes = async () =>
  (await run('docker', ['volume', 'ls', '--quiet', '--filter', `name=${suite.daemon.prefix}-`])).trim()

test('a restored disk is a new volume with the same files, and the former one is in the trash', async (t) => {
  const { api } = suite
  const { name, id, disk } = await createDisk(t)
  const facts = "cd /data; find . -exec stat -c '%n %F %a %u:%g %s %h' {} + | sort; cat kept a/b/file"
  const before = await inside(name, facts)
  const backup = await ended('backups', (await api.post(`/disks/${name}/backups`)).id)
  await inside(name, 'cd /data; rm -r a; echo two > kept; touch newer')

  const restored = await ended(
    'restores',
    (await api.post(`/disks/${id}/restores`, { backup_id: backup.id })).id,
  )

  assert.deepEqual([restored.status, restored.error, restored.disk], ['done', null, disk])
  assert.equal(await until('the instance', () => inside(name, facts)), before)
  const disks = (await api.get('/disks')).filter(({ service_id }: Body) => service_id === id)
  assert.deepEqual(disks, [{ name: restored.new_disk, service_id: id, service_name: name, kept: false }])
  const trashed = await until('the trash', async () =>
    (await api.get('/trash')).find((entry: Body) => entry.name === disk),
  )
  assert.equal(trashed.service_name, name)
  assert.equal((await api.get(`/services/${name}/status`)).state, 'live')
  assert.deepEqual(
    (await api.get(`/disks/${name}/restores`)).map((one: Body) => one.id),
    [restored.id],
  )
})

const upload = (name: string, content: Buffer) =>
  suite.api.call('POST', `/disks/${name}/restores/upload`, content, {
    'content-type': 'application/octet-stream',
  })

type Part = Partial<Header> & { name: string } & { content?: string }

async function archive(...parts: Part[]): Promise<Buffer> {
  const made = pack()
  for (const { content = '', ...header } of parts) made.entry(header, content)
  made.finalize()
  return gzipSync(await buffer(made))
}

const folder = { name: 'disk', type: 'directory' } as const

test('a hostile or damaged file changes nothing, and leads nowhere', async (t) => {
  const { name } = await createDisk(t)
  await inside(name, 'echo safe > /data/kept')
  const before = await volumes()
  const whole = await archive(folder, { name: 'disk/file', content: 'x'.repeat(100_000) })
  const link = { name: 'disk/link', type: 'symlink', linkname: '/etc' } as const
  const cases: [string, Buffer, RegExp][] = [
    [
      'a path up',
      await archive(folder, { name: '../evil', content: 'x' }),
      /'\.\.\/evil' has \.\. in its path/,
    ],
    [
      'a path up inside',
      await archive(folder, { name: 'disk/../../evil', content: 'x' }),
      /has \.\. in its path/,
    ],
    ['an absolute path', await archive(folder, { name: '/etc/evil', content: 'x' }), /is an absolute path/],
    [
      'another folder',
      await archive(folder, { name: 'etc/evil', content: 'x' }),
      /is not in the folder 'disk'/,
    ],
    [
      'a file behind a link',
      await archive(folder, link, { name: 'disk/link/evil', content: 'x' }),
      /is below a link/,
    ],
    ['the folder as a link', await archive({ ...link, name: 'disk' }), /is not a folder/],
    [
      'a hard link out',
      await archive(folder, { name: 'disk/hard', type: 'link', linkname: '../../etc/passwd' }),
      /has \.\. in its path/,
    ],
    ['a device', await archive(folder, { name: 'disk/dev', type: 'block-device' }), /is neither a file/],
    [
      'a path twice',
      await archive(folder, { name: 'disk/a', content: 'x' }, { name: 'disk/a', content: 'y' }),
      /twice/,
    ],
    ['a cut file', whole.subarray(0, -30), /is cut off/],
    ['no archive', gzipSync('hello'), /cut off|invalid/],
    ['an empty archive', await archive(), /has no folder 'disk'/],
  ]
  for (const [what, content, error] of cases) {
    const { status, body } = await upload(name, content)
    assert.equal(status, 202, what)
    const restored = await ended('restores', body.id)
    assert.equal(restored.status, 'failed', what)
    assert.match(restored.error, error, what)
  }
  const plain = await upload(name, Buffer.alloc(1000, 'x'))
  assert.deepEqual([plain.status, plain.body.errors[0].code], [400, 'unknown_format'])
  assert.equal(await inside(name, 'cat /data/kept'), 'safe')
  assert.equal(await volumes(), before)
})

long('a daemon killed in the middle of a backup or a restore of a disk ends it', async (t) => {
  const { daemon } = suite
  const { name, id } = await createDisk(t)
  await inside(name, 'echo backup > /data/kept')
  const killed = async (kind: 'backups' | 'restores', phase: string, body?: object) => {
    const begun = await suite.api.post(`/disks/${name}/${kind}`, body)
    await until(`${begun.id} to be ${phase}`, async () => {
      const now = await suite.api.get(`/${kind}/${begun.id}`)
      return now.phase === phase || now.finished_at !== null
    })
    await daemon.kill()
    await daemon.start()
    return ended(kind, begun.id)
  }
  const backups = []
  for (const phase of ['dumping', 'checking']) backups.push(await killed('backups', phase))
  for (const { status, error } of backups) assert.deepEqual([status, error], ['good', null])

  const facts = 'cd /data; find . | sort; cat kept; md5sum big'
  const before = await inside(name, facts)
  for (const phase of ['checking', 'loading', 'switching']) {
    await inside(name, `echo ${phase} > /data/kept; touch /data/${phase}`)
    const restored = await killed('restores', phase, { backup_id: backups[0]!.id })
    assert.deepEqual([restored.status, restored.error], ['done', null], phase)
    assert.equal(await until('the instance', () => inside(name, facts)), before)
    const disks = (await suite.api.get('/disks')).filter(({ service_id }: Body) => service_id === id)
    assert.deepEqual(
      disks.map((disk: Body) => [disk.name, disk.kept]),
      [[restored.new_disk, false]],
    )
  }
})
