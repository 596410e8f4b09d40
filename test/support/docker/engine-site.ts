// A daemon and everything its deploys use, in a namespace whose engine can be stopped, paused and killed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchDaemon, type TestDaemon } from '../daemon/daemon.ts'
import type { DeployGates } from '../daemon/paused-deploys.ts'
import { createGitServer } from '../git/git-server.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { openNetwork, runInside } from '../system/namespace.ts'
import { ensureEngine } from './engine.ts'
import { openGateServer } from './gate-server.ts'
import { openHoldingProxy } from './holding-proxy.ts'
import { baseImages } from './images.ts'
import { loadImage, type NamespaceEngine, saveImage, startNamespaceEngine } from './namespace-engine.ts'
import { startRegistry } from './registry.ts'

export interface EngineSite {
  engine: NamespaceEngine
  daemon: TestDaemon
  holds: DeployGates
}

/** The address at which containers reach the test. */
const testAddress = '10.99.0.1'
/** Fixed, because the namespace is private. */
const gatePort = 7999

/** In the outer run: a test that runs the file again, in a namespace. */
export function testInside(name: string, url: string, impossible: string | null): void {
  test(name, { skip: impossible ?? false }, async (t) => {
    const directory = temporaryDirectory(t)
    await prepareSite(t, directory)
    const { code, lines } = await runInside(url, { PREPARED: directory })
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
}

/** Prepares everything that needs network access, which the namespace does not have. */
async function prepareSite(t: Scope, directory: string): Promise<void> {
  const engine = await ensureEngine()
  for (const [name, image] of Object.entries(await baseImages()))
    await saveImage(engine, image, join(directory, `${name}.tar`))
  // Leaves the registry's program in the cache.
  await startRegistry(t)
}

/** For the inner run. `more` are options of the daemon. */
export async function openSite(t: Scope, prepared: string, more: string[] = []): Promise<EngineSite> {
  await openNetwork(testAddress)
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  t.after(() => engine.stop())
  process.env.DOCKER_HOST = engine.address
  for (const file of readdirSync(prepared).filter((name) => name.endsWith('.tar')))
    await loadImage(engine.address, join(prepared, file))
  const path = join(temporaryDirectory(t), 'docker.sock')
  const door = await openHoldingProxy(t, { path }, { path: engine.path })
  const daemon = await launchDaemon({
    args: [`--docker=unix://${path}`, '--build-concurrency=8', `--host-ports=${gatePort}`, ...more],
  })
  t.after(() => daemon.remove())
  return { engine, daemon, holds: { ...(await openHolds(t)), engine: door, api: daemon.api } }
}

async function openHolds(t: Scope): Promise<Omit<DeployGates, 'engine' | 'api'>> {
  const root = temporaryDirectory(t)
  const server = await createGitServer(t, { root })
  const git = await openHoldingProxy(t, { port: 0 }, { port: Number(new URL(server.url).port) })
  const registry = await startRegistry(t)
  const target = { port: Number(registry.host.split(':')[1]) }
  const images = { registry, door: await openHoldingProxy(t, { port: 0 }, target) }
  return { root, git, images, gate: await openGateServer(t, { address: testAddress, port: gatePort }) }
}
