// The deployed apps: a page that shows its version, a slow start, and sometimes a defect. Each comes from a
// git repository, an uploaded archive or an image.
// Only this module knows the versions and whether each one works; the checks query it.
import { setTimeout as sleep } from 'node:timers/promises'
import { packArchive } from '../../support/archive/archive.ts'
import type { Body } from '../../support/daemon/api.ts'
import { busyboxImage } from '../../support/docker/images.ts'
import type { TestRegistry } from '../../support/docker/registry.ts'
import { createRepository } from '../../support/git/repository.ts'
import type { Scope } from '../../support/system/directory.ts'
import type { Chance } from '../random.ts'

/** `broken` fails to build, `crashing` exits at its start. */
export type Flavor = 'good' | 'broken' | 'crashing'

interface Version {
  page: string
  flavor: Flavor
  /** The commit, if the version is one. */
  sha: string | null
}

type RecordOf = (deployId: string) => Body | null

export interface App {
  kind: 'git' | 'image' | 'archive'
  name: string
  /** The source fields of the request that creates its service. */
  settings: object
  /** The oldest first. */
  versions: Version[]
  /** Makes the next version: what is asked for from now on deploys it. */
  release(flavor: Flavor): Promise<Version>
  /** The bytes to upload; null if its source has the newest version. */
  archive(): Uint8Array | null
  /** Records that the upload of this deploy was acknowledged. */
  uploaded(deployId: string, version: Version): void
  /** The version that a deploy ran, from its record; `recordOf` returns the records of other deploys. */
  versionOf(record: Body, recordOf: RecordOf): Version | undefined
}

interface AppSite {
  scope: Scope
  registry: TestRegistry
  /** Part of each page, so that no build is cached from an earlier run. */
  nonce: string
}

type Source = Pick<App, 'settings' | 'versionOf'> & {
  /** Publishes the version as the newest one. */
  publish(version: Version): Promise<void>
} & Partial<App>

export async function createApp(
  kind: App['kind'],
  name: string,
  site: AppSite,
  chance: Chance,
): Promise<App> {
  const versions: Version[] = []
  const source = await sources[kind](name, site, versions, chance)
  return {
    kind,
    name,
    versions,
    archive: () => null,
    uploaded: () => undefined,
    async release(wanted) {
      // An image has no build step that could fail.
      const flavor = kind === 'image' && wanted === 'broken' ? 'crashing' : wanted
      const page = `${name} v${versions.length + 1} ${flavor} ${site.nonce}`
      const version: Version = { page, flavor, sha: null }
      await untilPublished(() => source.publish(version))
      versions.push(version)
      return version
    },
    ...source,
  }
}

const publishMs = 120_000

/** Versions are made from images of the engine, which may be away. */
async function untilPublished(publish: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + publishMs; ; await sleep(200)) {
    try {
      return await publish()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

type OpenSource = (name: string, site: AppSite, versions: Version[], chance: Chance) => Promise<Source>

const sources: Record<App['kind'], OpenSource> = {
  /** Each version is a commit on main. */
  async git(_name, { scope }, versions, chance) {
    const repository = createRepository(scope)
    return {
      settings: { repo_url: repository.directory, branch: 'main', auto_deploy: false },
      versionOf: ({ commit_sha }) => versions.find(({ sha }) => sha === commit_sha),
      async publish(version) {
        version.sha = repository.commit(version.page, await renderFiles(version, chance))
      },
    }
  },
  /** Each version is pushed to the same tag. The digest in a deploy's record identifies it. */
  async image(name, { registry }, _versions, chance) {
    const digests = new Map<string, Version>()
    return {
      settings: { image: `${registry.host}/${name}:current` },
      versionOf: ({ source }) => digests.get(source.image?.split('@')[1]),
      async publish(version) {
        const script = `echo ok > /www/healthz; ${serveCommand(version.flavor, chance)}`
        const command = `CMD ${JSON.stringify(['sh', '-c', script])}`
        digests.set(await registry.push(`${name}:current`, version.page, [command]), version)
      },
    }
  },
  /** Each version is an archive, and each deploy records the upload it uses. */
  async archive(_name, _site, _versions, chance) {
    const uploads = new Map<string, Version>()
    let newest = new Uint8Array()
    const versionOf = (record: Body, recordOf: RecordOf): Version | undefined => {
      const { kind, deploy_id } = record.source
      if (kind === 'archive') return uploads.get(deploy_id ?? record.id)
      const reused = deploy_id ? recordOf(deploy_id) : null
      return reused ? versionOf(reused, recordOf) : undefined
    }
    return {
      settings: {},
      versionOf,
      archive: () => newest,
      uploaded: (deployId, version) => void uploads.set(deployId, version),
      async publish(version) {
        newest = new Uint8Array(await packArchive(await renderFiles(version, chance)))
      },
    }
  },
}

async function renderFiles({ page, flavor }: Version, chance: Chance): Promise<Record<string, string>> {
  const lines = [
    `FROM ${await busyboxImage()}`,
    'COPY www /www',
    `RUN sleep ${chance.between(0.5, 1.4).toFixed(2)}`,
    flavor === 'broken' ? 'RUN exit 1' : '',
    `CMD ${JSON.stringify(['sh', '-c', serveCommand(flavor, chance)])}`,
  ]
  return { Dockerfile: `${lines.join('\n')}\n`, 'www/index.html': page, 'www/healthz': 'ok' }
}

/** Starts and stops slowly, so that kills can hit drains and checks. */
function serveCommand(flavor: Flavor, chance: Chance): string {
  return [
    `trap 'sleep ${chance.between(0, 0.7).toFixed(2)}; exit 0' TERM`,
    `sleep ${chance.between(0, 0.7).toFixed(2)}`,
    flavor === 'crashing' ? 'exit 3' : 'httpd -f -p $PORT -h /www & wait',
  ].join('; ')
}
