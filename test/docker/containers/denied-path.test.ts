import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestDenial } from '../../../src/docker/containers/denied-path.ts'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'

const lines: [line: string, path: string | null][] = [
  ["Error: EACCES: permission denied, open '/data/x.txt'", '/data/x.txt'],
  ["PermissionError: [Errno 13] Permission denied: '/data'", '/data'],
  ['open /data/db.sqlite: permission denied', '/data/db.sqlite'],
  ["chmod: changing permissions of '/data': Operation not permitted", '/data'],
  ["can't create /data/a/b: Permission denied", '/data/a/b'],
  ['permission denied: /data/../etc/shadow', null],
  ['permission denied: /database/x', null],
  ['permission denied: /srv/data/x', null],
  ["ENOENT: no such file or directory, open '/data/x'", null],
]

for (const [line, path] of lines) {
  test(`the denied path is found in: ${line}`, () => {
    assert.equal(newestDenial('/data', [line])?.path ?? null, path)
  })
}

test('a denial counts only if no later line shows another error', () => {
  const findAfter = (...later: string[]) =>
    newestDenial('/data', ['EACCES /data/old', 'EACCES /data/new', ...later])?.path ?? null

  assert.equal(
    findAfter('the cache is off', "  code: 'EACCES',", '    at new NodeError (a.js:1)'),
    '/data/new',
  )
  assert.equal(findAfter('npm ERR! Failed', 'error Command failed with exit code 1.'), '/data/new')
  for (const line of [
    'FATAL: DATABASE_URL is not set',
    'TypeError: x is null',
    '{"level":"error","msg":"no database"}',
    "EACCES: permission denied, mkdir '/var/run/app'",
  ])
    assert.equal(findAfter(line, 'bye'), null)
})

test('only some denials are for the owner', () => {
  const isForOwner = (line: string) => newestDenial('/data', [line])?.isForOwner
  assert.equal(isForOwner("chmod: changing permissions of '/data': Operation not permitted"), true)
  assert.equal(isForOwner("can't create /data/a: Permission denied"), false)
})

test('the owner of the nearest existing path is named, or its parent if that is the cause', async (t) => {
  const { engine, owner, instances, spec, images } = await openDockerSite(t)
  const { docker } = engine
  const base = await docker.createContainer({ Image: images.busybox, Cmd: ['true'] })
  const { Id: image } = await base.commit({ repo: `${owner.prefix}-user`, changes: ['USER 1000:1001'] })
  t.after(() => docker.getImage(image).remove({ force: true }))
  await base.remove()
  const volume = { name: `${owner.prefix}-disk`, mountPath: '/data' }
  await ensureVolume(engine, owner, volume.name)
  const findDenied = async (use: string, changes: { image?: string } = {}) => {
    const { name } = await instances.ensure(await spec({ image, volume, command: use, ...changes }))
    await until('its end', async () => (await instances.inspect(name))?.state === 'exited')
    try {
      return await instances.findDeniedPath(name)
    } finally {
      await instances.remove(name)
    }
  }
  const user = { uid: 1000, gid: 1001 }

  assert.deepEqual(await findDenied('echo x > /data/new'), {
    path: '/data',
    disk: '/data',
    owner: { uid: 0, gid: 0 },
    user,
  })
  const others = 'mkdir -p /data/own/other; touch /data/file; chown 7:8 /data/file /data/own/other'
  await findDenied(`${others}; chown 1000 /data/own`, { image: images.busybox })
  assert.deepEqual(await findDenied('echo x >> /data/file'), {
    path: '/data/file',
    disk: '/data',
    owner: { uid: 7, gid: 8 },
    user,
  })
  assert.deepEqual((await findDenied('echo x > /data/own/other/deep'))?.path, '/data/own/other')
  assert.equal(await findDenied('echo x > /root-owned'), null)

  const mixed = 'mkdir -p /data/own/closed /data/shut/mine; chown 1000 /data/own/closed /data/shut/mine'
  const modes = 'touch /data/shut/mine/f; chown 1000 /data/shut/mine/f; chmod 700 /data/shut; chmod 500'
  await findDenied(`${mixed}; ${modes} /data/own/closed; chmod 1777 /data`, { image: images.busybox })
  assert.equal(await findDenied('echo x > /data/own/closed/f'), null)
  assert.equal(await findDenied('echo x > /data/new && echo Permission denied: /data/new'), null)
  assert.equal((await findDenied('cat /data/shut/mine/f'))?.path, '/data/shut')
  assert.equal((await findDenied('chmod 777 /data'))?.path, '/data')
  assert.equal(await findDenied('echo x > /data/shut/f || echo FATAL: no database >&2'), null)
  await findDenied('mkdir /data/theirs; touch /data/theirs/f; chown 1000 /data/theirs/f', {
    image: images.busybox,
  })
  assert.equal((await findDenied('rm /data/theirs/f'))?.path, '/data/theirs')
  assert.equal(await findDenied('echo permission denied: /data/file', { image: images.busybox }), null)
})
