// Whether the engine's BuildKit still completes builds: it can hang for good while everything else of the
// engine works. In Docker 20.10 a build that is canceled at the wrong moment leaves its scheduler in an
// endless loop that holds the lock which all builds need.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import type { Engine } from './client.ts'
import { upload } from './dial.ts'
import { streamLines } from './stream-lines.ts'

/** Of the image of a probe. */
export const probeLabel = 'berth.probe'

/**
 * Builds next to nothing, and removes it. Resolves when the build ended, however it did; rejects with the
 * reason of `signal`, which alone bounds the time, and with `docker_unavailable`.
 */
export async function probeBuilder(engine: Engine, signal: AbortSignal): Promise<void> {
  const connections = engine.fork()
  try {
    const imageId = await build(connections, signal)
    if (imageId === null) return
    const remove = () => connections.docker.getImage(imageId).remove({ force: true })
    await connections.call('remove the image of a probe', remove).catch(() => {})
  } finally {
    connections.close()
  }
}

interface Message {
  id?: string
  aux?: { ID?: string }
}

async function build(engine: Engine, signal: AbortSignal): Promise<string | null> {
  // A file of its own each time: nothing is merged with another build.
  const archive = pack()
  archive.entry({ name: 'Dockerfile' }, `FROM scratch\nLABEL ${probeLabel}=${randomUUID()}\n`)
  archive.finalize()
  const body = Readable.from(archive)
  const post = { path: '/build', query: { version: '2' }, headers: {}, body, signal }
  const read = async () => {
    let imageId: string | null = null
    for await (const line of streamLines(await upload(engine, post))) {
      const { id, aux } = JSON.parse(line) as Message
      if (id === 'moby.image.id') imageId = aux?.ID ?? null
    }
    return imageId
  }
  // The signal is the bound.
  return engine.call('probe the builder', read, { signal, timeoutMs: 2 ** 31 - 1 })
}
