// What the builders get of a deploy: its source, and the env and stored credentials that a build may use.
// Build arguments stay readable in the image; a secret is readable only in the step that mounts it.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { EnvVar } from '../../../../storage/env.ts'
import type { BuildInputs, BuildJob } from '../../../builders/builder.ts'
import { imageName, labels, ownerLabels, treeName } from '../../../docker/engine/names.ts'
import { reservedBuildArgs } from '../../../domain/reserved-build-args.ts'
import { codeOf } from '../../../errors.ts'
import { sourceFor } from '../../../sources/index.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { checkoutDirectory, workDirectory } from '../source/source.ts'
import { resolveReferences } from '../start/environment.ts'
import { resolveProperty } from '../start/instances.ts'

export function createBuildJob(phase: DeployPhase, clearCache: boolean): BuildJob {
  const { ports, id, service, release, log, signal } = phase
  const { engine, owner, logger, storage, settings } = ports
  const labelsFor = (kind: string) => ({ ...ownerLabels(owner), [labels.kind]: kind, [labels.id]: id })
  const { source } = storage.actors.record(id) as unknown as { source: DeploySource }
  return {
    deployId: id,
    serviceName: service.name,
    settings: release.settings,
    envKeys: release.env.map(({ key }) => key),
    live: findLive(phase),
    keepRecipe: (recipe) => storage.releases.keepRecipe(id, recipe),
    directory: workDirectory(ports, id),
    checkout: checkoutDirectory(ports, id),
    image: { tag: imageName(owner, service.name, id), labels: labelsFor('image') },
    tree: { tag: treeName(owner, service.name, id), labels: labelsFor('tree') },
    openInputs: async () => ({ ...(await findBuildCache(phase, clearCache)), ...buildInputs(phase) }),
    ignoredFileAdvice: sourceFor(source).ignoredFileAdvice,
    staticImage: settings.staticImage,
    registries: storage.registries.list(),
    driver: ports.builder,
    engine,
    owner,
    log,
    logger,
    signal,
  }
}

function findLive({ ports: { storage }, service }: DeployPhase): BuildJob['live'] {
  const id = service.live_deploy_id
  const release = id === null ? null : storage.releases.get(id)
  const source = id === null ? null : (storage.actors.record(id)?.source as DeploySource | undefined)
  return !release || !source || source.image !== null ? null : { recipe: release.recipe ?? null }
}

/** Arguments by `build_env` and `build_args`, and every variable as a secret. */
export function buildInputs({
  ports,
  log,
  release: { settings, env },
}: DeployPhase): Pick<BuildInputs, 'buildArgs' | 'target' | 'secrets'> {
  const secrets = env.flatMap((variable) => resolvableVariables(ports, variable))
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  for (const key of settings.build_env.filter((name) => !values.has(name))) {
    log.info(
      `the build runs without ${key} of --build-env, which is not set or refers to what does not exist`,
    )
  }
  const args = settings.build_env.flatMap((key) => (values.has(key) ? [[key, values.get(key)!]] : []))
  const buildArgs: Record<string, string> = { ...Object.fromEntries(args), ...settings.build_args }
  for (const [key, reason] of reservedBuildArgs) {
    // A former version accepted them.
    if (Object.hasOwn(buildArgs, key)) log.info(`the build runs without the build argument ${key}: ${reason}`)
    delete buildArgs[key]
  }
  return { buildArgs, target: settings.build_target ?? null, secrets }
}

/** The layers and cache mounts of earlier builds that the build may use. */
async function findBuildCache({ ports, serviceId }: DeployPhase, clearCache: boolean) {
  const { buildCaches } = ports.storage
  const find = clearCache ? buildCaches.renew : buildCaches.namespaceOf
  const cacheNamespace = await find(serviceId)
  return { noCache: clearCache, cacheNamespace }
}

/** A build may not need a reference that cannot be resolved. If the instances need it, their start fails. */
function resolvableVariables(ports: DeployPorts, one: EnvVar): EnvVar[] {
  try {
    return resolveReferences([one], (kind, name, property) => resolveProperty(ports, kind, name, property))
  } catch (error) {
    if (codeOf(error) !== 'unresolved_reference') throw error
    return []
  }
}
