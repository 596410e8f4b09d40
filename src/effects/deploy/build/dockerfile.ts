// The input of a build: the Dockerfile of the source, and the env and stored credentials that the build may
// use. Build arguments stay readable in the image; a secret is readable only in the step that mounts it.
import { realpath } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import type { EnvVar } from '../../../../storage/env.ts'
import type { BuildRequest } from '../../../docker/build/build.ts'
import { labels, ownerLabels } from '../../../docker/engine/names.ts'
import { findDockerfiles } from '../../../domain/dockerfiles.ts'
import { reservedBuildArgs } from '../../../domain/reserved-build-args.ts'
import { suggestDockerfile } from '../../../domain/starter-dockerfile.ts'
import { codeOf, Failure } from '../../../errors.ts'
import type { ActorLog } from '../../logs/actor-log.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { checkoutDirectory, isInside, resolveInside, resolveRoot } from '../source/source.ts'
import { resolveReferences } from '../start/environment.ts'
import { resolveProperty } from '../start/instances.ts'

/** Throws `dockerfile_not_found`, and what a build throws. */
export async function buildDockerfile(
  phase: DeployPhase,
  tag: string,
  clearCache: boolean,
  kind: 'image' | 'tree' = 'image',
): Promise<void> {
  const { ports, log, signal } = phase
  const cache = await findBuildCache(phase, clearCache)
  const source = await findDockerfile(phase)
  const request = { tag, labels: imageLabels(phase, kind), ...cache, signal, onLine: log.build }
  const inputs = buildInputs(phase)
  try {
    await ports.builder.build({ ...source, ...inputs, ...request })
  } catch (error) {
    throw await explainMissingFile(error, { ...source, isUpload: phase.release.settings.repo_url === null })
  }
}

export function imageLabels({ ports, id }: DeployPhase, kind: 'image' | 'tree'): Record<string, string> {
  return { ...ownerLabels(ports.owner), [labels.kind]: kind, [labels.id]: id }
}

/** If it is missing, the failure lists others in the source, or the log shows one to start from. */
async function findDockerfile(phase: DeployPhase) {
  const { ports, id, release } = phase
  const { settings } = release
  const checkout = checkoutDirectory(ports, id)
  const contextDir = await resolveRoot(phase)
  const displayPath = normalize(join(settings.root_dir ?? '.', settings.dockerfile_path ?? 'Dockerfile'))
  if (!(await isInside(checkout, displayPath))) {
    throw await missingDockerfileFailure({ checkout, contextDir, displayPath }, phase.log)
  }
  const dockerfile = await resolveInside(checkout, displayPath, 'dockerfile_path')
  return { contextDir, dockerfile: relative(contextDir, dockerfile), sourceDir: await realpath(checkout) }
}

/** A starter Dockerfile is of use only if the source has none elsewhere. */
async function missingDockerfileFailure(
  { checkout, contextDir, displayPath }: { checkout: string; contextDir: string; displayPath: string },
  log: ActorLog,
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
export function buildInputs({
  ports,
  log,
  release: { settings, env },
}: DeployPhase): Pick<BuildRequest, 'buildArgs' | 'target' | 'secrets' | 'registries'> {
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

/** Lines for the deploy's log. `shown` is the path that Berth looked for. */
export async function suggestionLines(directory: string, path: string): Promise<string[]> {
  const { kind, dockerfile, notes } = await suggestDockerfile(directory)
  const looks = `looked for ${path} and found none; this looks like ${kind}`
  if (dockerfile.length === 0) return [looks, ...notes]
  return [
    looks,
    'a Dockerfile to start from:',
    ...dockerfile.map((line) => `    ${line}`),
    ...notes,
    'commit it and deploy again',
  ]
}

interface BuildSource {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  sourceDir: string
  isUpload: boolean
}

/** Adds why a file that a Dockerfile copies is not in the build context. Other errors stay as they are. */
export async function explainMissingFile(error: unknown, source: BuildSource): Promise<unknown> {
  if (!(error instanceof Failure) || error.facts?.missing_from !== undefined) return error
  const missing = error.facts?.missing_path
  if (typeof missing !== 'string') return error
  // A frontend named by `# syntax=` writes any path.
  const { reason, facts } = await findReason(normalize(`/${missing}`).slice(1), source)
  return new Failure('build_failed', `${error.message}: ${reason}`).with({ ...error.facts, ...facts })
}

async function findReason(path: string, source: BuildSource) {
  const { contextDir, sourceDir, dockerfile, isUpload } = source
  const folder = relative(sourceDir, contextDir)
  if (await isInside(sourceDir, join(folder, path))) {
    const own = `${dockerfile}.dockerignore`
    const file = (await isInside(sourceDir, join(folder, own))) ? own : '.dockerignore'
    return { reason: `it is in the source, but ${file} leaves it out` }
  }
  if (folder !== '' && (await isInside(sourceDir, path))) {
    const moved = join(folder, dockerfile)
    return {
      reason: `it is in the source, but the build sees only ${folder} (root_dir)`,
      facts: { reason: 'outside_root', dockerfile: moved },
    }
  }
  const advice = isUpload
    ? 'if .gitignore leaves it out of uploads, write it or its folder into .berthignore, after a !'
    : 'if .gitignore leaves it out, a step of the Dockerfile must make it'
  return { reason: `it is not in the source; ${advice}` }
}
