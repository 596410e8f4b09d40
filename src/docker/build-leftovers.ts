// What classic builds leave in the engine when they fail, are aborted or lose it: containers without a label,
// images without a name. Mind: an image of one build may be the cache of another, so nothing may be removed
// while any runs.
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptStatus, type Engine, orNull } from './client.ts'
import { buildHost, type Owner } from './names.ts'

export interface BuildLeftovers {
  /** Images of a build that nobody needs, by id, a later one made from the one before. */
  addImages(ids: string[]): void
  /** The engine may have left containers; so it may before the first build, when it or we were killed. */
  suspectContainers(): void
  /** Throws what an engine call throws; then all is as it was. */
  remove(): Promise<void>
}

const pauseMs = 100
/** An engine that ends a build needs a moment for it. */
const attempts = 50

export function createBuildLeftovers(engine: Engine, owner: Owner): BuildLeftovers {
  let images: string[] = []
  let mayHoldContainers = true
  return {
    addImages: (ids) => void images.push(...ids),
    suspectContainers() {
      mayHoldContainers = true
    },
    async remove() {
      if (mayHoldContainers) await removeContainers(engine, buildHost(owner))
      mayHoldContainers = false
      await removeImages(engine, images)
      images = []
    },
  }
}

async function removeContainers(engine: Engine, host: string): Promise<void> {
  const { docker, call } = engine
  for (let attempt = 0; attempt < attempts; attempt++) {
    const ids = await findContainers(engine, host)
    if (ids.length === 0) return
    for (const id of ids) {
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

/** What another build made its own images from has to stay, and so has what somebody gave a name. */
async function removeImages({ docker, call }: Engine, ids: string[]): Promise<void> {
  for (const id of ids.toReversed()) {
    const image = docker.getImage(id)
    const info = await orNull(call('inspect an image', () => image.inspect()))
    if (info === null || info.RepoTags.length > 0) continue
    const remove = call('remove an image', () => image.remove({ noprune: true }))
    await acceptStatus(409, acceptStatus(404, remove))
  }
}
