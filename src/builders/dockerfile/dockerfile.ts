// Builds a Dockerfile of the source, and explains what is missing: it, or a file that it copies.
import { realpath } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import { findDockerfiles } from '../../domain/dockerfiles.ts'
import { suggestDockerfile } from '../../domain/starter-dockerfile.ts'
import { Failure } from '../../errors.ts'
import { isInside, resolveInside } from '../../sources/source-path.ts'
import type { Builder, BuildJob, Target } from '../builder.ts'
import { resolveRoot } from '../source-folder.ts'

export const dockerfile: Builder = {
  name: 'dockerfile',
  detects: hasDockerfile,
  build: (job) => buildOwnDockerfile(job, job.image),
}

/** Whether there is one, or should be. */
export async function hasDockerfile({ settings, checkout }: BuildJob): Promise<boolean> {
  return settings.dockerfile_path !== null || isInside(checkout, displayPathOf(settings))
}

/** Throws `dockerfile_not_found`, and what a build throws. */
export async function buildOwnDockerfile(job: BuildJob, target: Target): Promise<void> {
  await buildDockerfile(job, await findDockerfile(job), target)
}

export async function buildDockerfile(job: BuildJob, source: BuildSource, target: Target): Promise<void> {
  const { registries, signal, log, ignoredFileAdvice } = job
  const inputs = await job.openInputs()
  try {
    await job.driver.build({ ...source, ...inputs, ...target, registries, signal, onLine: log.build })
  } catch (error) {
    throw await explainMissingFile(error, { ...source, ignoredFileAdvice })
  }
}

/** If it is missing, the failure lists others in the source, or the log shows one to start from. */
async function findDockerfile(job: BuildJob): Promise<BuildSource> {
  const { settings, checkout, log } = job
  const contextDir = await resolveRoot(job)
  const displayPath = displayPathOf(settings)
  if (!(await isInside(checkout, displayPath))) {
    throw await missingDockerfileFailure({ checkout, contextDir, displayPath }, log)
  }
  const dockerfile = await resolveInside(checkout, displayPath, 'dockerfile_path')
  return { contextDir, dockerfile: relative(contextDir, dockerfile), sourceDir: await realpath(checkout) }
}

function displayPathOf({ root_dir, dockerfile_path }: BuildJob['settings']): string {
  return normalize(join(root_dir ?? '.', dockerfile_path ?? 'Dockerfile'))
}

/** A starter Dockerfile is of use only if the source has none elsewhere. */
async function missingDockerfileFailure(
  { checkout, contextDir, displayPath }: { checkout: string; contextDir: string; displayPath: string },
  log: BuildJob['log'],
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

export interface BuildSource {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  sourceDir: string
}

type ExplainedSource = BuildSource & Pick<BuildJob, 'ignoredFileAdvice'>

/** Adds why a file that a Dockerfile copies is not in the build context. Other errors stay as they are. */
export async function explainMissingFile(error: unknown, source: ExplainedSource): Promise<unknown> {
  if (!(error instanceof Failure) || error.facts?.missing_from !== undefined) return error
  const missing = error.facts?.missing_path
  if (typeof missing !== 'string') return error
  // A frontend named by `# syntax=` writes any path.
  const { reason, facts } = await findReason(normalize(`/${missing}`).slice(1), source)
  return new Failure('build_failed', `${error.message}: ${reason}`).with({ ...error.facts, ...facts })
}

async function findReason(path: string, source: ExplainedSource) {
  const { contextDir, sourceDir, dockerfile, ignoredFileAdvice } = source
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
  return { reason: `it is not in the source; ${ignoredFileAdvice}` }
}
