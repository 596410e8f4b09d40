// A Docker image written by hand, in the form that `docker load` reads. Its id is the hash of its
// configuration, which names the hash of its one layer: the same files and settings always give the same id.
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'

export interface ImageSettings {
  Env: string[]
  Cmd: string[]
  Labels: Record<string, string>
}

const created = '1970-01-01T00:00:00Z'
const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The archive of an image of one layer, `reference` is the name it gets. */
export function createImageArchive(
  reference: string,
  layer: Buffer,
  settings: ImageSettings,
): Promise<Buffer> {
  const config = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    created,
    config: settings,
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created, created_by: 'Debian packages' }],
  })
  const manifest = JSON.stringify([{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }])
  const archive = pack()
  archive.entry({ name: 'manifest.json' }, manifest)
  archive.entry({ name: 'config.json' }, config)
  archive.entry({ name: 'layer.tar' }, layer)
  archive.finalize()
  return buffer(archive)
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
