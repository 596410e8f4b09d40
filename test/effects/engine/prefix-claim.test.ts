// Taking a prefix over from another data directory, on the real engine.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openInstances } from '../../../src/docker/containers/instances.ts'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { edgeKind, imageName, labels, ownerLabels } from '../../../src/docker/engine/names.ts'
import { listImages, tagImage } from '../../../src/docker/images/images.ts'
import { ensureNetwork } from '../../../src/docker/network/networks.ts'
import { claimPrefix } from '../../../src/effects/engine/prefix-claim.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { lockDirectory } from '../../../storage/store/lock.ts'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import { openDockerSite, testOwner, testSubnet } from '../../support/docker/docker-site.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

/** A stopped instance, a disk, the network and an edge of one data directory, and the claim of another. */
async function openTakeOver(t: TestContext, formerDirectory = temporaryDirectory(t)) {
  const site = await openDockerSite(t)
  const { engine, owner: former, images, instances } = site
  const storage = await temporaryStorage(t)
  const { name } = await instances.ensure(await site.spec())
  await instances.stop(name, 0)
  await ensureVolume(engine, former, `${former.prefix}-disk`)
  await engine.docker.createContainer({
    name: `${former.prefix}-edge`,
    Image: images.busybox,
    Cmd: ['sleep', '600'],
    Labels: { ...ownerLabels(former), [labels.kind]: edgeKind },
    HostConfig: { Binds: [`${join(formerDirectory, 'edge')}:/edge`] },
  })
  await engine.docker.getContainer(`${former.prefix}-edge`).start()
  const owner = { prefix: former.prefix, serverId: testOwner().serverId, mac: testMac }
  const warnings: [details: object, text: string][] = []
  const logger = { warn: (details: object, text: string) => void warnings.push([details, text]) } as never
  const claim = (takeOver = former.serverId, watchMs = 0) =>
    claimPrefix({ engine, owner, storage, logger, takeOver, watchMs })
  return { ...site, owner, former, storage, warnings, claim, name }
}

test('taking over a prefix removes its edge and network, and keeps instances and volumes', async (t) => {
  const { engine, owner, former, claim, warnings, name } = await openTakeOver(t)

  await claim()

  const { prefix } = owner
  const left = { containers: [name], networks: [], volumes: [`${prefix}-disk`], images: [] }
  assert.deepEqual(await findLeftovers(prefix), left)
  const listed = { containers: left.containers, volumes: left.volumes }
  assert.deepEqual(
    warnings.map(([details]) => details),
    [{ prefix, server: former.serverId }, listed],
  )
  await ensureNetwork(engine, owner, testSubnet)
  await claim('')
  assert.deepEqual(warnings.at(-1)![0], listed, 'reported again, and no reason not to start')
})

test('the refusal names the id that takes over the prefix; a wrong id changes nothing', async (t) => {
  const { former, claim } = await openTakeOver(t)
  const before = await findLeftovers(former.prefix)
  const hint = new RegExp(`--take-over-prefix ${former.serverId}$`)
  await assert.rejects(claim(''), { code: 'foreign_objects', hint })
  await assert.rejects(claim(testOwner().serverId), { code: 'foreign_objects', hint })
  assert.deepEqual(await findLeftovers(former.prefix), before)
})

test('a prefix is not taken over while an instance of the other data directory runs', async (t) => {
  const { engine, former, claim, name } = await openTakeOver(t)
  await engine.docker.getContainer(name).start()
  const before = await findLeftovers(former.prefix)
  await assert.rejects(claim(), {
    code: 'foreign_objects',
    message: `the prefix cannot be taken over while these run: container ${name}`,
    hint: /label=berth\.server=[0-9a-f]+\)$/,
  })
  assert.deepEqual(await findLeftovers(former.prefix), before)
})

test('a prefix is not taken over while a daemon locks the other data directory', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'edge'))
  const { former, claim } = await openTakeOver(t, directory)
  const lock = lockDirectory(directory)
  t.after(() => lock.release())
  const before = await findLeftovers(former.prefix)
  await assert.rejects(claim(), { code: 'foreign_objects', message: new RegExp(`${directory} is in use`) })
  assert.deepEqual(await findLeftovers(former.prefix), before)
  lock.release()
  await claim()
})

test('a prefix is not taken over if an object of the other data directory is started again', async (t) => {
  const { engine, former, storage, claim, name } = await openTakeOver(t)
  const back = setTimeout(() => void openInstances(engine, former).start(name), 1000)
  t.after(() => clearTimeout(back))
  await assert.rejects(claim(former.serverId, 60_000), {
    code: 'foreign_objects',
    message: new RegExp(`it started container ${name}`),
  })
  assert.deepEqual((await findLeftovers(former.prefix)).networks, [former.prefix])
  assert.deepEqual(storage.predecessors.serverIds(), [])
})

test('images of the previous data directory of the prefix are not listed as ours', async (t) => {
  const { engine, owner, images } = await openTakeOver(t)
  const previous = { ...owner, mac: (text: string) => testMac(`other ${text}`) }
  const id = createIds().newId('dep')
  const [theirs, ours] = [imageName(previous, 'web', id), imageName(owner, 'web', id)]
  await tagImage(engine, previous, images.busybox, theirs)
  await tagImage(engine, owner, images.busybox, ours)

  const listed = await listImages(engine, owner, 'web')

  assert.deepEqual(
    listed.map(({ name }) => name),
    [ours],
  )
})
