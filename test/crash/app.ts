// The apps that are deployed: a page that shows its version, a start that takes a moment, and sometimes a
// fault. Each comes from another kind of source.
// Which version is which, and whether it can work, is known here alone; the checks ask for it.
import type { Body } from '../support/api.ts'
import { baseImages } from '../support/images.ts'
import type { Chance } from './chance.ts'

/** `broken` fails to build, `crashing` ends at its start. */
export type Flavor = 'good' | 'broken' | 'crashing'

export interface Version {
  page: string
  flavor: Flavor
  /** The commit, for a version that is one. */
  sha: string | null
}

export interface App {
  kind: 'git' | 'image' | 'archive'
  name: string
  /** What the body that creates its service says of the source. */
  settings: object
  /** The oldest first. */
  versions: Version[]
  /** Makes the next version: what is asked for from now on deploys it. */
  release(flavor: Flavor): Promise<Version>
  /** The version that a deploy ran, by its record; `recordOf` gives the records of others. */
  versionOf(record: Body, recordOf: (deployId: string) => Body | null): Version | undefined
}

/**
 * The page of the next version: in every one is the nonce, so that no build is cached from an earlier run.
 */
export function nextVersion(
  { name, versions }: Pick<App, 'name' | 'versions'>,
  flavor: Flavor,
  nonce: string,
) {
  return { page: `${name} v${versions.length + 1} ${flavor} ${nonce}`, flavor, sha: null }
}

/** The files of a version, by path. */
export async function filesOf({ page, flavor }: Version, chance: Chance): Promise<Record<string, string>> {
  const { busybox } = await baseImages()
  return {
    Dockerfile: dockerfile(busybox, flavor, chance),
    'www/index.html': page,
    'www/healthz': 'ok',
  }
}

/** Slow to end and slow to start, so that drains and checks take long enough to be met. */
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
