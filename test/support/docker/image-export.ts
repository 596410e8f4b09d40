// An image as files: the content of `docker save`, with uncompressed layers.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Engine } from '../../../src/docker/engine/client.ts'
import { temporaryDirectory } from '../system/directory.ts'

/** A folder with the configuration, the history and each layer as a tar archive. */
export async function unpackImage(t: TestContext, { docker }: Engine, name: string): Promise<string> {
  const directory = temporaryDirectory(t)
  const archive = (await docker.getImage(name).get()).pipe(extract())
  for await (const entry of archive) {
    const bytes = await buffer(entry)
    if (entry.header.type !== 'file') continue
    const path = join(directory, entry.header.name)
    mkdirSync(dirname(path), { recursive: true })
    const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b
    writeFileSync(path, isCompressed ? gunzipSync(bytes) : bytes)
  }
  return directory
}
