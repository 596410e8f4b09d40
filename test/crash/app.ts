// The deployed apps: a page that shows its version, a slow start, and sometimes a defect. Each
// has a different source.
// Only this module knows the versions and whether each one works; the checks query it.
import type { Body } from '../support/daemon/api.ts'
import { baseImages } from '../support/docker/images.ts'
import type { Chance } from './random.ts'

/** `broken` fails to build, `crashing` exits at its start. */
export type Flavor = 'good' | 'broken' | 'crashing'

export interface Version {
  page: string
  flavor: Flavor
  /** The commit, if the version is one. */
  sha: string | null
}

export interface App {
  kind: 'git' | 'image' | 'archive'
  name: string
  /** The source fields of the request that creates its service. */
  settings: object
  /** The oldest first. */
  versions: Version[]
  /** Makes the next version: what is asked for from now on deploys it. */
  release(flavor: Flavor): Promise<Version>
  /** The version that a deploy ran, from its record; `recordOf` returns the records of other deploys. */
  versionOf(record: Body, recordOf: (deployId: string) => Body | null): Version | undefined
}

/**
 * The page of the next version. It contains a nonce, so that no build is cached from an earlier run.
 */
export function nextVersion(
  { name, versions }: Pick<App, 'name' | 'versions'>,
  flavor: Flavor,
  nonce: string,
) {
  return { page: `${name} v${versions.length + 1} ${flavor} ${nonce}`, flavor, sha: null }
}

/** The files of a version, by path. */
export async function renderFiles(
  { page, flavor }: Version,
  chance: Chance,
): Promise<Record<string, string>> {
  const { busybox } = await baseImages()
  return {
    Dockerfile: dockerfile(busybox, flavor, chance),
    'www/index.html': page,
    'www/healthz': 'ok',
  }
}

/** Starts and stops slowly, so that kills can hit drains and checks. */
export function serveCommand(flavor: Flavor, chance: Chance): string {
  return [
    `trap 'sleep ${chance.between(0, 0.7).toFixed(2)}; exit 0' TERM`,
    `sleep ${chance.between(0, 0.7).toFixed(2)}`,
    flavor === 'crashing' ? 'exit 3' : 'httpd -f -p $PORT -h /www & wait',
  ].join('; ')
}

function dockerfile(base: string, flavor: Flavor, chance: Chance): string {
  return [
    `FROM ${base}`,
    'COPY www /www',
    `RUN sleep ${chance.between(0.5, 1.4).toFixed(2)}`,
    ...(flavor === 'broken' ? ['RUN exit 1'] : []),
    `CMD ["sh", "-c", ${JSON.stringify(serveCommand(flavor, chance))}]`,
    '',
  ].join('\n')
}
