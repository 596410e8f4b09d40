// Process 1 of instances: an init, unless the image brings its own or the service wants none.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { drivers, prepareBuild } from '../support/docker/build-site.ts'
import { type DockerSite, openDockerSite, until } from '../support/docker/docker-site.ts'
import { long } from '../support/system/drill-size.ts'

/** The image of a Dockerfile with these lines, on busybox. */
async function imageWith(
  t: TestContext,
  site: DockerSite,
  lines: string[],
  files: Record<string, string> = {},
) {
  const Dockerfile = [`FROM ${site.images.busybox}`, ...lines].join('\n')
  const { request } = prepareBuild(t, site.owner, { ...files, Dockerfile })
  return (await drivers.classic(site).build(request)).imageId
}

async function readOutput({ instances }: DockerSite, name: string): Promise<string> {
  await until('the end', async () => (await instances.inspect(name))?.state === 'exited')
  return (await instances.tail(name, 10)).map(({ line }) => line).join('\n')
}

test('an init forwards signals, and the exit codes of a program', async (t) => {
  const site = await openDockerSite(t)
  const ends = [
    { script: 'exit 3', code: 3 },
    { script: 'kill -SEGV $$', code: 139 },
    { script: 'kill -KILL $$', code: 137 },
  ]
  for (const { script, code } of ends) {
    const image = await imageWith(t, site, [`CMD ["sh", "-c", "${script}"]`])
    const { name } = await site.instances.ensure(await site.spec({ image, command: null }))
    await readOutput(site, name)
    const { exitCode, oomKilled } = (await site.instances.inspectExit(name))!
    assert.deepEqual([exitCode, oomKilled], [code, false], script)
  }
  const image = await imageWith(t, site, [
    `CMD ["sh", "-c", "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.1; done"]`,
  ])
  const { name } = await site.instances.ensure(await site.spec({ image, command: null }))
  await until('its first line', async () => (await site.instances.tail(name, 1)).length > 0)
  await site.instances.stop(name, 60)
  assert.equal((await site.instances.inspect(name))?.exitCode, 7)
})

// As s6-overlay: "can only run as pid 1".
const init = '#!/bin/sh\n[ $$ = 1 ] || { echo "can only run as process 1"; exit 100; }\necho "is process 1"\n'
const asInit = (path: string) => [`COPY init ${path}`, `RUN chmod 755 ${path}`]

long('an image whose entrypoint is an init process is process 1', async (t) => {
  const site = await openDockerSite(t)
  const image = await imageWith(t, site, [...asInit('/init'), 'ENTRYPOINT ["/init"]'], { init })
  const { name } = await site.instances.ensure(await site.spec({ image, command: null }))

  assert.equal(await readOutput(site, name), 'is process 1')
})

long('an init that a script starts is process 1 if the service disables ours', async (t) => {
  const site = await openDockerSite(t)
  const lines = [...asInit('/own'), 'ENTRYPOINT ["sh", "-c", "exec /own"]']
  const image = await imageWith(t, site, lines, { init })
  const without = await site.instances.ensure(await site.spec({ image, command: null, init: false }))
  const withOne = await site.instances.ensure(await site.spec({ image, command: null }))

  assert.equal(await readOutput(site, without.name), 'is process 1')
  assert.equal(await readOutput(site, withOne.name), 'can only run as process 1')
})
