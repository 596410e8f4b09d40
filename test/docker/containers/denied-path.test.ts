import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deniedPaths, pathsToTry } from '../../../src/docker/containers/denied-path.ts'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { openDockerSite, until } from '../../support/docker-site.ts'

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
    assert.deepEqual(deniedPaths('/data', [line]), path === null ? [] : [path])
  })
}

test('the newest lines count first, and each path once', () => {
  const denials = ['/data/1', '/data/2', '/data/3', '/data/3', '/data/4'].map((path) => `EACCES ${path}`)
  assert.deepEqual(deniedPaths('/data', denials), ['/data/4', '/data/3', '/data/2'])
})

test('a line with a deep path costs few requests', () => {
  const deep = `/data${'/a'.repeat(2000)}`
  assert.equal(pathsToTry('/data', [`EACCES ${deep}`]).length, 20)
  assert.deepEqual(pathsToTry('/data', ['EACCES /data/b/c']), ['/data/b/c', '/data/b', '/data'])
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
    ...{ path: '/data', disk: '/data', owner: { uid: 0, gid: 0 }, user },
  })
  const others = 'mkdir -p /data/own/other; touch /data/file; chown 7:8 /data/file /data/own/other'
  await findDenied(`${others}; chown 1000 /data/own`, { image: images.busybox })
  assert.deepEqual(await findDenied('echo x >> /data/file'), {
    ...{ path: '/data/file', disk: '/data', owner: { uid: 7, gid: 8 }, user },
  })
  assert.deepEqual((await findDenied('echo x > /data/own/other/deep'))?.path, '/data/own/other')
  assert.equal(await findDenied('echo x > /root-owned'), null)
  assert.equal(await findDenied('echo permission denied: /data/file', { image: images.busybox }), null)
})
