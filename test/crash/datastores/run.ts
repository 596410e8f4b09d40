// The datastore run: writers with acknowledged rows during kills of the daemon and Docker restarts.
// Uses a private engine in a namespace, so that no other containers are affected.
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
import { type Scope, temporaryDirectory } from '../../support/system/directory.ts'
import { runInside, whyNoNamespace } from '../../support/system/namespace.ts'
import { readVictimMessages } from '../victim-messages.ts'
import { type Kind, rootOf } from './line-client.ts'
import type { DatastoreOutcome } from './report.ts'

export interface DatastoreRunOptions {
  kills: number
  engineRestarts: number
  seed: number
  /** Saves the files even without violations. */
  keep: boolean
  /** Also writes its lines to standard error as they come. */
  logsToStderr: boolean
  log: (line: string) => void
}

export { whyNoNamespace }

/** Needs a namespace: see `whyNoNamespace`. */
export async function runDatastoreCrash(
  scope: Scope,
  { log, ...options }: DatastoreRunOptions,
): Promise<DatastoreOutcome> {
  const prepared = temporaryDirectory(scope)
  const images = await prepare(prepared)
  const { lines } = await runInside(new URL('./namespace-run.ts', import.meta.url).href, {
    DATASTORE_RUN: JSON.stringify({ ...options, prepared, images }),
    ...(options.logsToStderr ? { SAID_AT_ONCE: '1' } : {}),
  })
  return readVictimMessages<DatastoreOutcome>(lines, log)
}

/** The namespace has no network access, so images and clients are passed in as files. */
async function prepare(directory: string): Promise<{ postgres: string; redis: string }> {
  const address = await ensureEngine()
  const images = await datastoreImages()
  for (const kind of ['postgres', 'redis'] as const) {
    const name = images[kind].replace('{version}', versions[kind])
    await saveImage(address, name, join(directory, `${kind}.tar`))
    await unpackImage(address, name, directory, kind)
  }
  return images
}

async function unpackImage(address: string, name: string, directory: string, kind: Kind): Promise<void> {
  const docker = new Docker({ socketPath: address.replace('unix://', '') })
  const container = await docker.createContainer({ Image: name, Labels: { 'berth.test': 'client' } })
  try {
    const root = rootOf(directory, kind)
    mkdirSync(root)
    const stdio = ['pipe', 'ignore', 'inherit'] as const
    const tar = spawn('tar', ['-x', '-C', root], { stdio: [...stdio], env: commandEnv })
    const ended = once(tar, 'close')
    await pipeline(await container.export(), tar.stdin!)
    const [code] = await ended
    if (code !== 0) throw new Error(`tar ended with ${code}`)
  } finally {
    await container.remove({ v: true })
  }
}
