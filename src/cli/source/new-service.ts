// The service that `berth up` creates for a new folder: its name and its type.
import { existsSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import type { Service } from '../../api/service.ts'
import { findUsualDockerfile } from '../../domain/dockerfiles.ts'
import type { Recipe, Settings } from '../../recipes/index.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, interruption, usageFailure, withResumeHint } from '../failure.ts'
import { createNamed } from '../service/creation.ts'
import { readable } from '../service/labels.ts'
import { plain } from '../terminal/output.ts'
import { phaseLine } from '../terminal/phase-line.ts'
import { confirm } from '../terminal/prompts.ts'
import type { Source } from './source-entries.ts'

export interface Guess {
  type: string
  publishDir: string | null
  rootDir: string | null
  /** Null for a source with a Dockerfile. */
  recipe: Recipe | null
  reason: string
}

export interface GuessOptions {
  type?: string | undefined
  rootDir?: string | undefined
}

const maxNameChars = 40
const siteFolders = ['public', 'dist', 'build', '_site', 'out']

/** Throws a usage failure for a folder name without a usable character. */
export function toServiceName(folder: string): string {
  const name = serviceNameOf(folder)
  if (name !== null) return name
  throw usageFailure(`the name of ${folder} cannot be a service name`, 'give a name: berth up NAME')
}

/** The service name of a folder; null when the folder name has no usable character. */
export function serviceNameOf(folder: string): string | null {
  const letters = basename(folder)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
  const name = letters
    .replace(/^[^a-z]+/, '')
    .slice(0, maxNameChars)
    .replace(/-+$/, '')
  return name || null
}

/** From a Dockerfile, otherwise by a recipe. Throws CliFailure if no recipe fits. */
export async function guessService(source: Source, { type, rootDir }: GuessOptions): Promise<Guess> {
  const files = new Set(source.entries.map(({ path }) => path))
  const guess = { publishDir: null, rootDir: rootDir ?? null }
  const inRoot = [...files].filter((path) => posix.relative(rootDir ?? '', posix.dirname(path)) === '')
  const names = inRoot.map((path) => posix.basename(path))
  if (findUsualDockerfile(names, type) !== undefined) {
    const site =
      type === 'static_site' ? siteFolders.find((folder) => files.has(`${folder}/index.html`)) : null
    const reason = 'built by its Dockerfile'
    return { ...guess, type: type ?? 'web_service', publishDir: site ?? null, recipe: null, reason }
  }
  const { chooseLocalRecipe } = await import('./local-recipe.ts')
  const options = { rootDir, ...(type ? { type: type as Settings['type'] } : {}) }
  const recipe = await chooseLocalRecipe(source, options).catch((error: unknown) => {
    throw withIgnoredFolder(source, error)
  })
  const reason = `built by a recipe: ${recipe.title}`
  return { ...guess, type: type ?? (recipe.site ? 'static_site' : 'web_service'), recipe, reason }
}

function withIgnoredFolder({ folder }: Source, error: unknown): unknown {
  const ignored = siteFolders.find((name) => existsSync(join(folder, name, 'index.html')))
  if (!ignored || !(error instanceof CliFailure)) return error
  const hint = `there are pages in ${ignored}/, which is ignored: write !${ignored} into .berthignore`
  return new CliFailure(error.message, { hint })
}

/** Prompts for confirmation at a terminal. Without a terminal the service is created without a prompt. */
export async function approve(cli: Cli, name: string, { type, reason }: Guess): Promise<void> {
  if (!cli.out.canAsk) return
  const message = plain(`Create ${name}, a ${readable(type)}, ${reason}?`)
  if (await confirm(cli, { message, instead: 'confirm with --yes' }, true)) return
  throw interruption('nothing was created', 'another name: berth up NAME; another type: --type TYPE')
}

export async function createForUpload(cli: Cli, name: string, guess: Guess): Promise<Service> {
  const { type, publishDir, rootDir, reason } = guess
  const body = { name, type, publish_dir: publishDir, root_dir: rootDir }
  const startedAt = Date.now()
  const service = await createNamed(cli, body).catch((error: unknown) => {
    throw withResumeHint(error, `nothing was uploaded; to continue: berth up ${name}`)
  })
  const line = { mark: '✔', name: 'creating', detail: `${name}, a ${readable(type)}, ${reason}` }
  if (!cli.out.isJson) cli.out.say(phaseLine(cli.out, { ...line, durationMs: Date.now() - startedAt }))
  return service
}
