// Finds the container of an instance. Only a container with both owner labels is found. Readers ignore a
// foreign container that has the name; writers refuse to touch it.
import type { Container, ContainerInspectInfo } from 'dockerode'
import { Failure } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { isOurs, type Owner } from '../engine/names.ts'
import { endStaleTask } from './stale-task.ts'

export interface EngineScope {
  engine: Engine
  owner: Owner
  /** Decides before the removal of an instance which of its volumes stay. Returns their names. */
  keepVolumes?: (container: InspectedContainer) => Promise<string[]>
}

/** An inspected container. `container` uses its id, because the name may belong to another container now. */
export interface InspectedContainer {
  container: Container
  info: ContainerInspectInfo
}

/** Null if no container of this server has that name or id. */
export async function findOwn(scope: EngineScope, name: string): Promise<InspectedContainer | null> {
  const container = await find(scope, name)
  return container && isOurs(scope.owner, container.info.Config.Labels) ? container : null
}

/** Null if the name is free; throws `docker_error` if a foreign container has it. */
export async function findOwnOrRefuse(scope: EngineScope, name: string): Promise<InspectedContainer | null> {
  const container = await find(scope, name)
  if (container === null || isOurs(scope.owner, container.info.Config.Labels)) return container
  throw new Failure(
    'docker_error',
    `the container '${name}' does not belong to this server and is left alone`,
  )
}

/** Kills it too, and removes its anonymous volumes unless one is kept. Gone, or about to be, is fine. */
export async function removeContainer(
  { engine }: EngineScope,
  { container, info }: InspectedContainer,
  { keepsVolumes = false } = {},
): Promise<void> {
  if (info.State.Status === 'created') await endStaleTask(info.Id)
  const removal = engine.call(`remove ${info.Name}`, (abortSignal) =>
    container.remove({ force: true, v: !keepsVolumes, abortSignal }),
  )
  await acceptStatus(409, acceptStatus(404, removal))
}

async function find({ engine }: EngineScope, name: string): Promise<InspectedContainer | null> {
  const { docker, call } = engine
  const inspection = call(`inspect ${name}`, (abortSignal) =>
    docker.getContainer(name).inspect({ abortSignal }),
  )
  const info = await orNull(inspection)
  return info && { container: docker.getContainer(info.Id), info }
}
