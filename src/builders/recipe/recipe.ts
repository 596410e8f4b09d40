// Builds a source without a Dockerfile by a recipe: Berth prints the Dockerfile, and says why it is that one.
import { readdir, realpath, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ReleaseRecipe } from '../../../storage/releases.ts'
import { ignoreLines } from '../../docker/dockerfile/ignore-rules.ts'
import { findDockerfiles } from '../../domain/dockerfiles.ts'
import { Failure, type FailureFacts } from '../../errors.ts'
import { read } from '../../readers/read.ts'
import {
  isRefusal,
  printDockerfile,
  printIgnoreFile,
  type Recipe,
  type Refusal,
  recipeVersion,
} from '../../recipes/index.ts'
import { isInside } from '../../sources/source-path.ts'
import type { Builder, BuildJob, Target } from '../builder.ts'
import { buildDockerfile } from '../dockerfile/dockerfile.ts'
import { createGeneratedDirectory, resolveRoot } from '../source-folder.ts'
import { serveTree } from '../static-site/static-site.ts'
import { describeRecipe } from './description.ts'

export const recipe: Builder = { name: 'recipe', detects: fits, build: buildByRecipe }

/** Never by itself for a service that lives without one: a Dockerfile may be missing by mistake. */
export function mayUseRecipe({ settings, live }: BuildJob): boolean {
  const { builder = null, dockerfile_path } = settings
  if (builder !== null) return builder === 'recipe'
  return dockerfile_path === null && (live === null || live.recipe !== null)
}

async function fits(job: BuildJob): Promise<boolean> {
  if (!mayUseRecipe(job)) return false
  if (job.settings.builder === 'recipe') return true
  const chosen = await choose(job)
  if (isRefusal(chosen)) return false
  return job.settings.type !== 'static_site' || (chosen.site !== null && !(await isReadyMade(job, chosen)))
}

/** Whether the pages of a static site are in the source, and nothing makes them. */
async function isReadyMade(job: BuildJob, { stages }: Recipe): Promise<boolean> {
  const { publish_dir } = job.settings
  const isMade = stages.some(({ steps }) => steps.some((step) => step.do === 'run'))
  if (publish_dir !== null && !isMade) return true
  const page = join(publish_dir ?? '.', 'index.html')
  return (publish_dir !== null || !isMade) && isInside(await resolveRoot(job), page)
}

/** Throws `recipe_not_found`, and what a build throws. */
async function buildByRecipe(job: BuildJob): Promise<void> {
  const chosen = await choose(job)
  if (isRefusal(chosen)) throw await explainRefusal(job, chosen)
  const printed = print(job, chosen)
  for (const line of describeRecipe(printed, chosen, job)) job.log.info(line)
  // Before the image exists: after a crash, only the release has what belongs to it.
  await job.keepRecipe(printed)
  const { site } = chosen
  if (site === null) await buildPrinted(job, chosen, printed, job.image)
  else await serveTree(job, () => buildPages(job, chosen, printed), site)
  // Again, with the images that its tags meant.
  await job.keepRecipe(printed)
}

const outcomes = new WeakMap<BuildJob, Promise<Recipe | Refusal>>()

/** Reads the source once: whether a recipe fits, and which one, are asked separately. */
function choose(job: BuildJob): Promise<Recipe | Refusal> {
  const outcome = outcomes.get(job) ?? readAndChoose(job)
  outcomes.set(job, outcome)
  return outcome
}

async function readAndChoose(job: BuildJob): Promise<Recipe | Refusal> {
  const checkout = await realpath(job.checkout)
  const rootDir = relative(checkout, await resolveRoot(job))
  const { type, build_command, start_command, publish_dir } = job.settings
  const settings = { type, build_command, start_command, publish_dir, env: job.envKeys }
  const { serviceName: owner, signal } = job
  const chosen = await read('recipe', { directory: checkout, rootDir, settings }, { owner, signal })
  return isRefusal(chosen) ? chosen : withArguments(chosen, job.settings)
}

/** What runs on the sources gets the arguments of the service. They do not repeat an install of packages. */
function withArguments(made: Recipe, { build_env, build_args }: BuildJob['settings']): Recipe {
  const names = [...new Set([...build_env, ...Object.keys(build_args ?? {})])]
  const stages = made.stages.map((stage) => {
    const at = stage.steps.findLastIndex((step) => step.do === 'copy') + 1
    const isNeeded = names.length > 0 && stage.steps.slice(at).some((step) => step.do === 'run')
    return isNeeded ? { ...stage, steps: stage.steps.toSpliced(at, 0, { do: 'arg', names }) } : stage
  })
  return { ...made, stages }
}

function print({ driver }: BuildJob, made: Recipe): ReleaseRecipe {
  return {
    version: recipeVersion,
    builder: recipe.name,
    choices: made.choices.map(({ what, reason }) => ({ what, reason })),
    dockerfile: printDockerfile(made, { mounts: driver.mounts }),
    ignore: printIgnoreFile(made),
    base_images: {},
    // Else each worker and job of the source would run it too.
    pre_deploy_command: made.port === null ? null : (made.preDeploy?.command ?? null),
    proposals: made.proposals,
    workers: made.workers,
    stored_data: made.storedData,
  }
}

/** The last stage copies the folder of the pages from another one, and nothing else. */
async function buildPages(job: BuildJob, made: Recipe, printed: ReleaseRecipe): Promise<void> {
  await buildPrinted(job, made, printed, job.tree).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.facts?.missing_from === undefined) throw error
    const advice = 'the publish dir is the folder where it leaves the pages, relative to the root dir'
    throw new Failure('site_not_found', `the build leaves no /${error.facts.missing_path}; ${advice}`)
  })
}

async function buildPrinted(
  job: BuildJob,
  { context, stages }: Recipe,
  { dockerfile, ignore, base_images }: ReleaseRecipe,
  target: Target,
): Promise<void> {
  const sourceDir = await realpath(job.directory)
  const contextDir = join(await realpath(job.checkout), context)
  const file = join(await createGeneratedDirectory(job), 'recipe.Dockerfile')
  await writeFile(file, dockerfile)
  const args = new Set(
    stages.flatMap(({ steps }) => steps.flatMap((step) => (step.do === 'arg' ? step.names : []))),
  )
  const source = {
    contextDir,
    sourceDir,
    dockerfile: relative(contextDir, file),
    ignore: ignoreLines(ignore).map(({ line }) => line),
  }
  const openInputs: BuildJob['openInputs'] = async () => {
    const inputs = await job.openInputs()
    const values = inputs.secrets.filter(({ key }) => args.has(key)).map(({ key, value }) => [key, value])
    return { ...inputs, target: null, buildArgs: { ...Object.fromEntries(values), ...inputs.buildArgs } }
  }
  const log = noteBases(job.log, base_images)
  await buildDockerfile({ ...job, openInputs, log }, source, target).catch((error: unknown) => {
    throw error instanceof Failure ? error.with({ ...error.facts, builder: recipe.name }) : error
  })
}

/** Notes which image a tag of FROM means, if the engine reports it, as it does for those of a registry. */
function noteBases(log: BuildJob['log'], digests: ReleaseRecipe['base_images']): BuildJob['log'] {
  return {
    info: log.info,
    build(stream, line, step) {
      log.build(stream, line, step)
      const [, name, digest] = /\bFROM (\S+)@(sha256:[0-9a-f]{64})$/.exec(step?.name ?? '') ?? []
      const tag = name?.replace(/^docker\.io\/(library\/)?/, '')
      if (tag === undefined || digest === undefined || digests[tag] === digest) return
      digests[tag] = digest
      log.info(`${tag} is ${digest}`)
    },
  }
}

/** Has what was looked for, and what comes closest. */
async function explainRefusal(job: BuildJob, { problem, lookedFor, apps, start }: Refusal): Promise<Failure> {
  const dockerfiles = await findDockerfiles(job.checkout)
  const compose = (await readdir(job.checkout)).find((name) => /^(docker-)?compose\.ya?ml$/.test(name))
  if (compose) job.log.info(`${compose} is not read: each of its services becomes a service`)
  const isAsked = job.settings.builder === 'recipe'
  const list = (what: string, names: string[]) => (names.length > 0 ? [`${what} ${names.join(', ')}`] : [])
  const reasons = [
    isAsked ? `no recipe builds the source: ${problem}` : `the source has no Dockerfile, and ${problem}`,
    ...list('looked for', apps.length > 0 ? [] : lookedFor),
    ...list('it has', dockerfiles),
    ...list('folders that are apps:', apps),
  ]
  const facts: FailureFacts = {
    ...(dockerfiles[0] !== undefined && { dockerfile: dockerfiles[0] }),
    ...(apps[0] !== undefined && { app: apps[0] }),
    ...(start !== null && { start_command: start }),
  }
  return new Failure('recipe_not_found', reasons.join('; ')).with(facts)
}
