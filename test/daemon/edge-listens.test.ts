// The listening ports of a server: the edge is public, everything else is local.
// No service or option may change that, so it is checked while a service is served.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { createService } from '../support/daemon/suite.ts'
import { portOf } from '../support/edge/edge.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { childrenOf, findEdge } from '../support/edge/edge-chaos.ts'
import { openDocker, openEdgeSite } from '../support/edge/edge-site.ts'
import { installPackages } from '../support/system/apt.ts'
import { hasCommand, run } from '../support/system/command.ts'
import { long } from '../support/system/drill-size.ts'

interface Listener {
  address: string
  port: number
}

const scope = fileScope()
if (!hasCommand('ss')) await installPackages(['iproute2'])

/** The listening TCP and bound UDP addresses of these processes. */
async function readListeners(pids: number[]): Promise<Listener[]> {
  const lines = (await run('ss', ['-Hlntup'])).split('\n')
  const edgeLines = lines.filter((line) => pids.some((pid) => line.includes(`pid=${pid},`)))
  return edgeLines.map((line) => {
    const [, , , , local = ''] = line.split(/\s+/)
    const split = local.lastIndexOf(':')
    return { address: local.slice(0, split), port: Number(local.slice(split + 1)) }
  })
}

const isPublic = ({ address }: Listener) => !/^(127\.|\[::1\]|\[::ffff:127\.)/.test(address)

/** Docker listens for containers with published ports. */
async function publishedPorts(prefix: string): Promise<unknown[]> {
  const docker = await openDocker()
  const { containers } = await findLeftovers(prefix)
  const found = await Promise.all(containers.map((name) => docker.getContainer(name).inspect()))
  return found.flatMap(({ HostConfig: { PortBindings } }) => Object.values(PortBindings ?? {}))
}

for (const kind of ['container', 'host'] as const) {
  const testKind = kind === 'container' ? test : long
  testKind(`only the edge listens beyond the host itself (${kind})`, async () => {
    const site = await openEdgeSite(scope, kind)
    const service = await createService(scope, site.daemon.api, await edgeApp('served'))
    assert.equal((await site.page(service)).body, 'served')
    const edge = findEdge(site.daemon.dataDir)!

    const edgePids = [edge.master, ...edge.workers]
    // Includes the ports of an edge on the host.
    const others = [site.daemon.pid, ...childrenOf(site.daemon.pid)].filter((pid) => !edgePids.includes(pid))

    const daemonListens = await readListeners(others)
    const edgeListens = await readListeners(edgePids)

    assert.ok(daemonListens.length > 0, 'the API listens')
    assert.deepEqual(daemonListens.filter(isPublic), [])
    const wanted = [portOf(site.args, '--http-port'), portOf(site.args, '--https-port')]
    const ports = new Set(edgeListens.filter(isPublic).map(({ port }) => port))
    assert.deepEqual([...ports].sort(), wanted.sort())
    assert.deepEqual(
      edgeListens.filter((listener) => !isPublic(listener)),
      [],
    )
    assert.deepEqual(await publishedPorts(site.daemon.prefix), [])
  })
}
