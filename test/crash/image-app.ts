// An app that is pulled: each version is pushed to the same tag. The digest in a deploy's record
// identifies its version.
import type { TestRegistry } from '../support/docker/registry.ts'
import { type App, type Flavor, nextVersion, serveCommand, type Version } from './app.ts'
import type { Chance } from './random.ts'

export function createImageApp(registry: TestRegistry, name: string, nonce: string, chance: Chance): App {
  const versions: Version[] = []
  const digests = new Map<string, Version>()

  async function release(wanted: Flavor): Promise<Version> {
    // There is no build step that could fail.
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
