// The input of a build: the Dockerfile of the source, and the env and stored credentials that the build may
// use. Build arguments stay readable in the image; a secret is readable only in the step that mounts it.
import { realpath } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import type { EnvVar } from '../../../../storage/env.ts'
import type { BuildRequest } from '../../../docker/build/build.ts'
import { findDockerfiles } from '../../../domain/dockerfiles.ts'
import { reservedBuildArgs } from '../../../domain/reserved-build-args.ts'
import { codeOf, Failure } from '../../../errors.ts'
import type { DeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'
import { checkoutDirectory, isInside, resolveInside, resolveRoot } from '../source/source.ts'
import { resolveReferences } from '../start/environment.ts'
import { resolveProperty } from '../start/instances.ts'
import { suggestionLines } from './dockerfile-suggestion.ts'
import { explainMissingFile } from './missing-file.ts'

type BuildOptions = Pick<BuildRequest, 'tag' | 'labels' | 'noCache' | 'cacheNamespace' | 'signal'>

/** Builds the Dockerfile of the source. Throws `dockerfile_not_found`, and what a build throws. */
export async function buildDockerfile(
  ports: DeployPorts,
  deployId: string,
  log: DeployLog,
  options: BuildOptions,
): Promise<void> {
  const source = await findDockerfile(ports, deployId, log)
  const inputs = buildInputs(ports, deployId, log)
  try {
    await ports.builder.build({ ...source, ...inputs, ...options, onLine: log.build })
  } catch (error) {
    const isUpload = requireRelease(ports, deployId).settings.repo_url === null
    throw await explainMissingFile(error, { ...source, isUpload })
  }
}

/** If it is missing, the failure lists others in the source, or the log shows one to start from. */
async function findDockerfile(ports: DeployPorts, deployId: string, log: DeployLog) {
  const { settings } = requireRelease(ports, deployId)
  const checkout = checkoutDirectory(ports, deployId)
  const contextDir = await resolveRoot(ports, deployId, settings)
  const displayPath = normalize(join(settings.root_dir ?? '.', settings.dockerfile_path ?? 'Dockerfile'))
  if (!(await isInside(checkout, displayPath))) {
    throw await missingDockerfileFailure({ checkout, contextDir, displayPath }, log)
  }
  const dockerfile = await resolveInside(checkout, displayPath, 'dockerfile_path')
  return { contextDir, dockerfile: relative(contextDir, dockerfile), sourceDir: await realpath(checkout) }
}

/** A starter Dockerfile is of use only if the source has none elsewhere. */
async function missingDockerfileFailure(
  { checkout, contextDir, displayPath }: { checkout: string; contextDir: string; displayPath: string },
  log: DeployLog,
): Promise<Failure> {
  const message = `there is no ${displayPath} in the source`
  const [first, ...others] = (await findDockerfiles(checkout)).map((path) => path.replace(/\p{Cc}/gu, '?'))
  if (first !== undefined) {
    const list = [first, ...others].join(', ')
    return new Failure('dockerfile_not_found', `${message}; it has ${list}`).with({ dockerfile: first })
  }
  for (const line of await suggestionLines(contextDir, displayPath)) log.info(line)
  return new Failure('dockerfile_not_found', message)
}

/** Arguments by `build_env` and `build_args`, every variable as a secret, credentials for base images. */
export function buildInputs(
  ports: DeployPorts,
  deployId: string,
  log: DeployLog,
): Pick<BuildRequest, 'buildArgs' | 'target' | 'secrets' | 'registries'> {
  const { settings, env } = requireRelease(ports, deployId)
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
  return {
    buildArgs,
    target: settings.build_target ?? null,
    secrets,
    registries: ports.storage.registries.list(),
  }
}

/** The layers and cache mounts of earlier builds that the build may use. */
export async function findBuildCache(
  { storage: { buildCaches } }: DeployPorts,
  { serviceId, clearCache }: { serviceId: string; clearCache: boolean },
): Promise<Pick<BuildRequest, 'noCache' | 'cacheNamespace'>> {
  const cacheNamespace = await (clearCache
    ? buildCaches.renew(serviceId)
    : buildCaches.namespaceOf(serviceId))
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
