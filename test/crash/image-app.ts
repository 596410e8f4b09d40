// An app that is pulled: each version is an image that was pushed to the same tag. What a deploy ran is told
// by the digest in its record.
import type { TestRegistry } from '../support/registry.ts'
import { type App, type Flavor, nextVersion, serveCommand, type Version } from './app.ts'
import type { Chance } from './chance.ts'

export function createImageApp(registry: TestRegistry, name: string, nonce: string, chance: Chance): App {
  const versions: Version[] = []
  const digests = new Map<string, Version>()

  async function release(wanted: Flavor): Promise<Version> {
    // Nothing is built here, so nothing breaks while it is.
    const flavor = wanted === 'broken' ? 'crashing' : wanted
    const version = nextVersion({ name, versions }, flavor, nonce)
    const command = JSON.stringify(['sh', '-c', `echo ok > /www/healthz; ${serveCommand(flavor, chance)}`])
    digests.set(await registry.push(`${name}:current`, version.page, [`CMD ${command}`]), version)
    versions.push(version)
    return version
  }

  return {
    kind: 'image',
    name,
    settings: { image: `${registry.host}/${name}:current` },
    versions,
    release,
    versionOf: ({ source }) => digests.get(source.image?.split('@')[1]),
  }
}
