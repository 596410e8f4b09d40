// Shared by the tests of builds: both builders, a request for a small tree, and a check for leftovers.
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type BuilderOptions,
  type BuildRequest,
  builderOptions,
  type ImageBuilder,
} from '../../../src/docker/build/build.ts'
import { createClassic } from '../../../src/docker/build/build-classic.ts'
import { openBuildGuard } from '../../../src/docker/build/build-guard.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import { type Engine, orNull } from '../../../src/docker/engine/client.ts'
import { buildHost, imageName, type Owner } from '../../../src/docker/engine/names.ts'
import { writeTree } from '../archive/write-tree.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { type DockerSite, openDockerSite } from './docker-site.ts'

/** Creates a builder. Another engine than the site's is one that the test breaks. */
type Driver = (site: EngineSite, engine?: Engine) => ImageBuilder
type EngineSite = Pick<DockerSite, 'engine' | 'owner'>

/** Both builders, by their names for `--builder`. Each must pass the same tests. */
export const drivers: Record<'buildkit' | 'classic', Driver> = {
  buildkit: ({ owner, engine }, other = engine) => createBuildKit(other, unlimited(owner)),
  classic: ({ owner, engine }, other = engine) => createClassic(other, unlimited(owner)),
}

export function unlimited(owner: Owner): BuilderOptions {
  const limits = { memoryMb: null, cpus: null, pids: null }
  return builderOptions(owner, openBuildGuard('tcp://elsewhere', owner, limits))
}

/** `#5 [2/4] RUN …`, `#5 0.123 output`, `Step 2/4 : RUN …`. */
const stepPattern = /^(#\d+ (\[\d+\/\d+\] |\d+\.\d{3} )?|Step \d+\/\d+ : )/

interface BuildSite extends DockerSite {
  builder: ImageBuilder
}

export async function openBuildSite(t: TestContext, driver: Driver): Promise<BuildSite> {
  const site = await openDockerSite(t)
  return { ...site, builder: driver(site) }
}

/** A build request for `files`, and its log as `stdout …`, without step numbers and times. */
export function prepareBuild(t: TestContext, owner: Owner, files: Record<string, string>) {
  const contextDir = join(temporaryDirectory(t), 'source')
  writeTree(contextDir, files)
  const lines: string[] = []
  const request: BuildRequest = {
    contextDir,
    dockerfile: 'Dockerfile',
    tag: imageName(owner, 'web', 'dep-one'),
    labels: {},
    noCache: false,
    cacheNamespace: '',
    buildArgs: {},
    secrets: [],
    registries: [],
    onLine: (stream, line) => lines.push(`${stream} ${line.replace(stepPattern, '')}`),
    signal: new AbortController().signal,
  }
  return { request, lines }
}

/** The ids of the containers of the site's classic builds, in any state. */
export async function buildContainers({ engine, owner }: EngineSite): Promise<string[]> {
  const all = await engine.docker.listContainers({ all: true })
  const details = await Promise.all(
    all.map(({ Id }) => orNull(engine.call('look', () => engine.docker.getContainer(Id).inspect()))),
  )
  const buildContainers = details.filter((info) =>
    info?.HostConfig.ExtraHosts?.includes(`${buildHost(owner)}:0.0.0.0`),
  )
  return buildContainers.map((info) => info!.Id)
}
