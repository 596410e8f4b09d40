// The images of the datastores and the files of their clients: a namespace has no network access.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Docker from 'dockerode'
import { versions } from '../../support/daemon/datastores.ts'
import { datastoreImages } from '../../support/docker/datastore-images.ts'
import { ensureEngine } from '../../support/docker/engine.ts'
import { saveImage } from '../../support/docker/namespace-engine.ts'
import { commandEnv } from '../../support/system/command.ts'
import { kinds, rootOf } from './line-client.ts'

export async function prepareDatastores(directory: string, isEnginePrivate: boolean) {
  const address = await ensureEngine()
  const images = await datastoreImages()
  for (const kind of kinds) {
    const name = images[kind].replace('{version}', versions[kind])
    if (isEnginePrivate) await saveImage(address, name, join(directory, `${kind}.tar`))
    await unpackImage(address, name, rootOf(directory, kind))
  }
  return { directory, postgres: images.postgres, redis: images.redis }
}

async function unpackImage(address: string, name: string, root: string): Promise<void> {
  const docker = new Docker({ socketPath: address.replace('unix://', '') })
  const container = await docker.createContainer({ Image: name, Labels: { 'berth.test': 'client' } })
  try {
    mkdirSync(root)
    const tar = spawn('tar', ['-x', '-C', root], { stdio: ['pipe', 'ignore', 'inherit'], env: commandEnv })
    const ended = once(tar, 'close')
    await pipeline(await container.export(), tar.stdin)
    const [code] = await ended
    if (code !== 0) throw new Error(`tar ended with ${code}`)
  } finally {
    await container.remove({ v: true })
  }
}
