// Writes a Docker image in the format of `docker load`. Its id is the hash of its configuration, which
// contains the hash of its only layer: the same files and settings always give the same id.
import { webcrypto } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'

export interface ImageSettings {
  Env: string[]
  Cmd: string[]
  Labels: Record<string, string>
  Entrypoint?: string[]
  ExposedPorts?: Record<string, object>
  StopSignal?: string
  User?: string
  Volumes?: Record<string, object>
  WorkingDir?: string
}

const created = '1970-01-01T00:00:00Z'
const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The archive of a single-layer image with the name `reference`. */
export async function createImageArchive(
  reference: string,
  layer: Buffer,
  settings: ImageSettings,
): Promise<Buffer> {
  const config = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    created,
    config: settings,
    rootfs: { type: 'layers', diff_ids: [`sha256:${await sha256(layer)}`] },
    history: [{ created, created_by: 'Debian packages' }],
  })
  const manifest = JSON.stringify([{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }])
  const archive = pack()
  const mtime = new Date(created)
  archive.entry({ name: 'manifest.json', mtime }, manifest)
  archive.entry({ name: 'config.json', mtime }, config)
  archive.entry({ name: 'layer.tar', mtime }, layer)
  archive.finalize()
  return buffer(archive)
}

// Runs in a worker thread: a layer takes as long as several hundred requests.
async function sha256(bytes: Buffer): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}
