// Loads an image built by Berth into the engine, as the archive that `docker load` reads.
import { Readable } from 'node:stream'
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { streamLines } from '../engine/stream-lines.ts'

const timeoutMs = 120_000

/** Resolves when the image exists under the names in its archive. Repeating the call changes nothing. */
export async function loadImage(
  { call, docker }: Engine,
  archive: Buffer,
  signal: AbortSignal | undefined,
): Promise<void> {
  const load = async (abortSignal: AbortSignal) => {
    const response = await docker.loadImage(Readable.from([archive]), { quiet: true, abortSignal })
    // The status is 200 before the engine has read anything; an error is a line of the response.
    for await (const line of streamLines(response)) {
      const { error }: { error?: string } = JSON.parse(line)
      if (error) throw new Failure('docker_error', `Docker could not load an image: ${error}`)
    }
  }
  await call('load an image', load, { signal, timeoutMs })
}
