// Builds a Dockerfile of the source, and explains what is missing: it, or a file that it copies.
import { readdir, realpath } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import { findDockerfiles, findUsualDockerfile } from '../../domain/dockerfiles.ts'
import { Failure } from '../../errors.ts'
import { isInside, resolveInside } from '../../sources/source-path.ts'
import type { Builder, BuildJob, Target } from '../builder.ts'
import { resolveRoot } from '../source-folder.ts'
import { serveTree } from '../static-site/static-site.ts'
import { watchCauses } from './known-causes.ts'

export const dockerfile: Builder = {
  name: 'dockerfile',
  detects: hasDockerfile,
  build: buildOwnDockerfile,
}

/** Whether there is one, or should be. */
async function hasDockerfile(job: BuildJob): Promise<boolean> {
  const { builder = null, dockerfile_path } = job.settings
  if (builder !== null) return builder === 'dockerfile'
  return dockerfile_path !== null || isInside(job.checkout, await findPath(job))
}

/** Of a static site, it builds the folder to serve. Throws `dockerfile_not_found`, and what builds do. */
async function buildOwnDockerfile(job: BuildJob): Promise<void> {
  const source = await findDockerfile(job)
  if (job.settings.type !== 'static_site') return buildDockerfile(job, source, job.image)
  await serveTree(job, () => buildDockerfile(job, source, job.tree))
}

export async function buildDockerfile(job: BuildJob, source: BuildSource, target: Target): Promise<void> {
  const { registries, signal, log, ignoredFileAdvice } = job
  const inputs = await job.openInputs()
  const { onLine, explain } = watchCauses(log.build)
  try {
    await job.driver.build({ ...source, ...inputs, ...target, registries, signal, onLine })
  } catch (error) {
    throw await explainMissingFile(explain(error), { ...source, ignoredFileAdvice })
  }
}

/** If it is missing, the failure lists others in the source. */
async function findDockerfile(job: BuildJob): Promise<BuildSource> {
  const contextDir = await resolveRoot(job)
  const path = await findPath(job)
  if (!(await isInside(job.checkout, path))) throw await missingDockerfile(job, path)
  const dockerfile = await resolveInside(job.checkout, path, 'dockerfile_path')
  return { contextDir, dockerfile: relative(contextDir, dockerfile), sourceDir: await realpath(job.checkout) }
}

async function findPath({
  checkout,
  settings: { type, root_dir, dockerfile_path },
}: BuildJob): Promise<string> {
  const folder = root_dir ?? '.'
  if (dockerfile_path !== null) return normalize(join(folder, dockerfile_path))
  const names = await readdir(join(checkout, folder)).catch(() => [])
  return join(folder, findUsualDockerfile(names, type) ?? 'Dockerfile')
}

async function missingDockerfile({ checkout, settings, live }: BuildJob, path: string): Promise<Failure> {
  const message = `there is no ${path} in the source`
  const others = await findDockerfiles(checkout)
  if (others[0] !== undefined) {
    const list = others.join(', ')
    return new Failure('dockerfile_not_found', `${message}; it has ${list}`).with({ dockerfile: others[0] })
  }
  const failure = new Failure('dockerfile_not_found', message)
  return live && settings.dockerfile_path === null ? failure.with({ builder: 'recipe' }) : failure
}

export interface BuildSource {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  sourceDir: string
  /** Instead of the lines of .dockerignore. */
  ignore?: string[]
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
