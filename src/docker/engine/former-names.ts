// Gives the containers and images of the former version their current names, while they run and are in use.
// A kill between two steps is harmless: what has its current name is left alone.
import type { Engine } from './client.ts'
import {
  type ContainerKind,
  containerName,
  currentImageName,
  formerContainerName,
  labels,
  type Owner,
  ownerFilter,
} from './names.ts'

export interface FormerName {
  name: string
  /** Idempotent. */
  replace(): Promise<void>
}

/** Instances, pre-deploy commands and job runs that still have the name of the former version. */
export async function listFormerContainers({ call, docker }: Engine, owner: Owner): Promise<FormerName[]> {
  const filters = { label: ownerFilter(owner) }
  const containers = await call('list containers', (abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  )
  return containers.flatMap(({ Id, Names, Labels }) => {
    const container = {
      serviceName: Labels[labels.service] ?? '',
      deployId: Labels[labels.id] ?? '',
      index: Number(Labels[labels.index]),
      kind: Labels[labels.kind] as ContainerKind,
    }
    const former = formerContainerName(owner, container)
    if (!Names.includes(`/${former}`)) return []
    const name = containerName(owner, container)
    const replace = async () => {
      await call(`rename ${former}`, (abortSignal) => docker.getContainer(Id).rename({ name, abortSignal }))
    }
    return [{ name: former, replace }]
  })
}

/** Images with the name of the former version, of known deploys: such a name alone proves nothing. */
export async function listFormerImages(
  { call, docker }: Engine,
  owner: Owner,
  isKnown: (deployId: string) => boolean,
): Promise<FormerName[]> {
  const filters = { reference: [`${owner.prefix}/*`] }
  const images = await call('list images', (abortSignal) => docker.listImages({ filters, abortSignal }))
  const formerNames = images.flatMap(({ RepoTags }) => RepoTags ?? [])
  return formerNames.flatMap((former) => {
    const current = currentImageName(owner, former)
    if (!current || !isKnown(current.deployId)) return []
    const [repo = '', tag = ''] = current.name.split(':')
    const replace = async () => {
      const image = docker.getImage(former)
      await call(`tag the image ${former}`, (abortSignal) => image.tag({ repo, tag, abortSignal }))
      // The former name is removed last: an image is never without a name.
      await call(`remove the name ${former}`, () => image.remove())
    }
    return [{ name: former, replace }]
  })
}
