// An app that is uploaded: each version is an archive, and each deploy records the upload it uses.

import { packArchive } from '../support/archive/archive.ts'
import type { Body } from '../support/daemon/api.ts'
import { type App, type Flavor, nextVersion, renderFiles, type Version } from './app.ts'
import type { Chance } from './random.ts'

export interface ArchiveApp extends App {
  kind: 'archive'
  /** The bytes of the newest version. */
  archive(): Uint8Array
  /** Records that the upload of this deploy was acknowledged. */
  uploaded(deployId: string, version: Version): void
}

export function createArchiveApp(name: string, nonce: string, chance: Chance): ArchiveApp {
  const versions: Version[] = []
  const uploads = new Map<string, Version>()
  let newest: Uint8Array = new Uint8Array()

  async function release(flavor: Flavor): Promise<Version> {
    const version = nextVersion({ name, versions }, flavor, nonce)
    newest = await packArchive(await renderFiles(version, chance))
    versions.push(version)
    return version
  }

  function versionOf(record: Body, recordOf: (deployId: string) => Body | null): Version | undefined {
    const { kind, deploy_id } = record.source
    if (kind === 'archive') return uploads.get(deploy_id ?? record.id)
    const reused = deploy_id ? recordOf(deploy_id) : null
    return reused ? versionOf(reused, recordOf) : undefined
  }

  return {
    kind: 'archive',
    name,
    settings: {},
    versions,
    release,
    versionOf,
    archive: () => newest,
    uploaded: (deployId, version) => void uploads.set(deployId, version),
  }
}
