// The processes of a build whose engine is killed in the middle of it, with each builder.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drivers, prepareBuild } from '../../support/docker/build-site.ts'
import { testOwner, until } from '../../support/docker/docker-site.ts'
import { baseImages } from '../../support/docker/images.ts'
import { startKillableEngine, whyNoKillableEngine } from '../../support/docker/killable-engine.ts'
import { findProcesses } from '../../support/system/processes.ts'

for (const [name, driver] of Object.entries(drivers)) {
  const title = `an engine killed during a build by ${name} leaves no process once another build is done`

  test(title, { skip: whyNoKillableEngine }, async (t) => {
    const command = `sleep 600.${Date.now()}`
    t.after(() => endProcesses(command))
    const { engine, kill, start } = await startKillableEngine(t)
    const site = { engine, owner: testOwner() }
    const builder = driver(site)
    const { busybox } = await baseImages()
    const hanging = prepareBuild(t, site.owner, { Dockerfile: `FROM ${busybox}\nRUN ${command}` })
    const next = prepareBuild(t, site.owner, { Dockerfile: `FROM ${busybox}\nRUN true` })

    const building = builder.build(hanging.request)
    await until('it sleeps', async () => (await findProcesses(command)).length > 0)
    const broken = assert.rejects(building, { code: 'docker_unavailable' })
    await kill()
    await broken
    await start()
    await builder.build(next.request)

    assert.deepEqual(await findProcesses(command), [])
  })
}

async function endProcesses(command: string): Promise<void> {
  for (const pid of await findProcesses(command)) process.kill(Number(pid), 'SIGKILL')
}
