// Whether the engine's BuildKit still completes builds: it can hang for good while everything else of the
// engine works. In Docker 20.10 a build that is canceled at the wrong moment leaves its scheduler in an
// endless loop that holds the lock which all builds need.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import type { Engine } from '../engine/client.ts'
import { upload } from '../engine/raw-requests.ts'
import { streamLines } from '../engine/stream-lines.ts'

export const probeLabel = 'berth.probe'

/**
 * Builds next to nothing, and removes it. Resolves when the build ended, however it did; rejects with the
 * reason of `signal`, which alone bounds the time, and with `docker_unavailable`.
 */
export async function probeBuilder(engine: Engine, signal: AbortSignal): Promise<void> {
  const connections = engine.fork()
  try {
    await build(connections, signal)
    await removeImages(connections)
  } finally {
    connections.close()
  }
}

async function build(engine: Engine, signal: AbortSignal): Promise<void> {
  // Each probe has a unique Dockerfile, so that BuildKit does not merge it with another build.
  const archive = pack()
  archive.entry({ name: 'Dockerfile' }, `FROM scratch\nLABEL ${probeLabel}=${randomUUID()}\n`)
  archive.finalize()
  const body = Readable.from(archive)
  const post = { path: '/build', query: { version: '2' }, headers: {}, body, signal }
  const read = async () => {
    for await (const _ of streamLines(await upload(engine, post))) {
      // Only its end matters.
    }
  }
  // The signal is the bound.
  await engine.call('probe the builder', read, { signal, timeoutMs: 2 ** 31 - 1 })
}

/** Also those of probes that were cut off. Another prober of the engine may be faster: that does no harm. */
async function removeImages({ call, docker }: Engine): Promise<void> {
  const filters = { dangling: ['true'], label: [probeLabel] }
  const images = await call('list images of probes', () => docker.listImages({ filters })).catch(() => [])
  for (const { Id } of images) {
    await call('remove the image of a probe', () => docker.getImage(Id).remove()).catch(() => {})
  }
}
