// The data of datastores and disks in a backup of the server: on a machine without their volumes one command
// brings it back, and here nothing is left of it.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRecoveryKey } from '../../src/server-backup/keys.ts'
import { runBerth } from '../support/cli/berth.ts'
import type { Body } from '../support/daemon/api.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { removeLeftovers } from '../support/daemon/leftovers.ts'
import { programArgs } from '../support/daemon/program.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { run } from '../support/system/command.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))

test('a restored server gets the data of its datastores and disks back', async (t) => {
  const folder = temporaryDirectory(t)
  const schedule = [
    '--server-backup-schedule=* * * * *',
    '--server-backup-with=all',
    '--server-backup-keep=1',
  ]
  const site = await openDatastoreSite(t, { args: [...schedule, `--server-backup-dir=${folder}`] })
  const { daemon } = site
  const { key } = await createRecoveryKey(daemon.dataDir)
  const { external_url: url } = await site.create({ kind: 'redis', name: 'sessions' })
  await site.redis(url, 'set', 'one', 'kept')
  const files = { Dockerfile: await dockerfile() }
  const settings = { disk_mount_path: '/data', start_command: 'exec httpd -f -p $PORT -h /data' }
  const service = await createService(t, daemon.api, files, settings)
  const inside = async (api: typeof daemon.api, script: string) => {
    const { instances } = await api.get(`/services/${service.name}/status`)
    return (await run('docker', ['exec', instances[0].name, 'sh', '-c', script])).trim()
  }
  await inside(daemon.api, 'echo kept > /data/file; chown 7:8 /data/file')
  const marked = new Date().toISOString()

  const backup = await until('a backup of the server', async () => {
    const [newest]: Body[] = await daemon.api.get('/server-backups')
    return newest?.status === 'stored' && newest.created_at > marked && newest
  })

  deepEqual(
    backup.data.map(({ kind, name, error }: Body) => [kind, name, error]),
    [
      ['redis', 'sessions', null],
      ['disk', service.name, null],
    ],
  )
  await daemon.stop()
  const [file] = readdirSync(folder).filter((name) => name === backup.file.split('/').at(-1))
  const target = join(folder, 'restored')
  const child = spawn(
    process.execPath,
    [...programArgs('src/main'), 'restore', join(folder, file!), '--data-dir', target],
    { cwd: home },
  )
  child.stdin.end(`${key}\n`)
  match(await text(child.stdout), /Start it with/)
  const volumes = await run('docker', [
    'volume',
    'ls',
    '-q',
    '--filter',
    `label=berth.instance=${daemon.prefix}`,
  ])
  const containers = await run('docker', ['ps', '-aq', '--filter', `label=berth.instance=${daemon.prefix}`])
  await run('docker', ['rm', '--force', ...containers.trim().split('\n')])
  await run('docker', ['volume', 'rm', ...volumes.trim().split('\n')])

  const restored = await startDaemon(t, {
    dataDir: target,
    args: ['--prefix', daemon.prefix, ...site.imageArgs],
  })
  t.after(() => removeLeftovers(daemon.prefix))
  const { api } = restored
  await until('its datastore', async () => (await api.get('/datastores/sessions')).status === 'available')
  const { held } = await api.get('/info')
  deepEqual(
    held.missing.map(({ name, what }: Body) => [name, what]),
    [
      [service.name, 'disk'],
      ['sessions', 'data'],
    ],
  )

  const { code, stdout, stderr } = await runBerth(t, ['restore-missing'], { daemon: restored })

  equal(code, 0, stderr)
  match(stdout + stderr, /sessions now has the data of bak-/)
  const { external_url: restoredUrl } = await api.get('/datastores/sessions')
  equal(await site.redis(restoredUrl, 'get', 'one'), 'kept')
  const owner = () => inside(api, 'cat /data/file; stat -c %u:%g /data/file')
  equal(await until('the instance', owner), 'kept\n7:8')
  deepEqual((await api.get('/info')).held.missing, [])
})
