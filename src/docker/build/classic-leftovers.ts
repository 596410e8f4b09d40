// What classic builds leave in the engine when they fail, are aborted or lose it: containers without a label,
// images without a name. An image of one build may be the cache of another, so nothing may be removed
// while any runs.
import type { ImageInspectInfo } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { buildHost, type Owner } from '../engine/names.ts'
import type { ClassicFacts } from './build-classic-log.ts'

export interface BuildLeftovers {
  /** Adds a build that failed or was canceled; its intermediate images are not needed. */
  addBuild(build: BuildTraces): void
  /** The engine may have left containers; so it may before the first build, when it or we were killed. */
  suspectContainers(): void
  /** Throws what an engine call throws; then all is as it was. */
  remove(): Promise<void>
}

export type BuildTraces = Pick<ClassicFacts, 'containers' | 'baseImages' | 'madeImages'>

const pauseMs = 100
/** An engine that ends a build needs a moment for it. */
const attempts = 50

export function createBuildLeftovers(engine: Engine, owner: Owner): BuildLeftovers {
  /** The number of consecutive searches that found no image of the build, 0 or 1. */
  const builds = new Map<BuildTraces, number>()
  let mayHoldContainers = true
  let waitAttempts = 0
  return {
    addBuild: (build) => void builds.set(build, 0),
    suspectContainers() {
      mayHoldContainers = true
      waitAttempts = attempts
    },
    async remove() {
      if (mayHoldContainers) await removeContainers(engine, buildHost(owner), waitAttempts)
      mayHoldContainers = false
      waitAttempts = 0
      for (const [build, vainLooks] of [...builds].toReversed()) {
        const found = await removeImages(engine, build)
        // The next search finds the images that the engine refused to remove or is still creating.
        if (found === 0 && vainLooks > 0) builds.delete(build)
        else builds.set(build, found === 0 ? 1 : 0)
      }
    },
  }
}

/**
 * The engine removes the containers itself after it has created an image from them. That work ends later if
 * they are removed here first, so the first `waitAttempts` attempts only wait.
 */
async function removeContainers(engine: Engine, host: string, waitAttempts: number): Promise<void> {
  const { docker, call } = engine
  for (let attempt = 0; attempt < waitAttempts + attempts; attempt++) {
    const ids = await findContainers(engine, host)
    if (ids.length === 0) return
    for (const id of attempt < waitAttempts ? [] : ids) {
      const container = docker.getContainer(id)
      const remove = call('remove a build container', () => container.remove({ force: true, v: true }))
      await acceptStatus(409, acceptStatus(404, remove))
    }
    await sleep(pauseMs)
  }
}

async function findContainers({ docker, call }: Engine, host: string): Promise<string[]> {
  const all = await call('list containers', (abortSignal) =>
    docker.listContainers({ all: true, abortSignal }),
  )
  const found: string[] = []
  for (const { Id } of all) {
    const info = await orNull(call('inspect a container', () => docker.getContainer(Id).inspect()))
    if (info?.HostConfig.ExtraHosts?.some((entry: string) => entry.startsWith(`${host}:`))) found.push(Id)
  }
  return found
}

/** Returns the number found. The engine keeps an image that another build's images are based on. */
async function removeImages(engine: Engine, build: BuildTraces): Promise<number> {
  build.madeImages.push(...(await findUntold(engine, build)))
  let found = 0
  for (const id of build.madeImages.toReversed()) {
    const info = await inspectImage(engine, id)
    if (info === null || !isMadeBy(build, info)) continue
    found++
    const remove = engine.call('remove an image', () =>
      engine.docker.getImage(info.Id).remove({ noprune: true }),
    )
    await acceptStatus(409, acceptStatus(404, remove))
  }
  return found
}

/** Finds the images that the engine created after the build had stopped reading its messages. */
async function findUntold(engine: Engine, build: BuildTraces): Promise<string[]> {
  const { baseImages, madeImages } = build
  const all = await engine.call('list images', (abortSignal) =>
    engine.docker.listImages({ all: true, abortSignal }),
  )
  const untold: string[] = []
  for (const image of all.toReversed()) {
    const [id, parent] = [shortId(image.Id), shortId(image.ParentId)]
    const parents = [...madeImages, ...untold]
    if (madeImages.includes(id) || ![...baseImages, ...parents].includes(parent)) continue
    const info = await inspectImage(engine, id)
    // Of a base image there are other people's descendants, too.
    if (info && isMadeBy({ ...build, baseImages: [], madeImages: parents }, info)) untold.push(id)
  }
  return untold
}

/**
 * Checks the engine's records, because a command may print lines that look like the engine's. An image with a
 * name is kept. Steps like `COPY` have no container, and newer engines report none.
 */
function isMadeBy({ containers, baseImages, madeImages }: BuildTraces, info: ImageInspectInfo): boolean {
  if (info.RepoTags?.length || info.RepoDigests?.length) return false
  if (info.Container) return containers.includes(shortId(info.Container))
  return [...baseImages, ...madeImages].includes(shortId(info.Parent))
}

function inspectImage({ docker, call }: Engine, id: string): Promise<ImageInspectInfo | null> {
  return orNull(call('inspect an image', () => docker.getImage(id).inspect()))
}

/** The form that a build's messages use. */
function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 12)
}
