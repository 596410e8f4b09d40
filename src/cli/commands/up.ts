// `berth up`: turns a folder into a running service: packs it, uploads it, follows the deploy.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { Recipe } from '../../recipes/index.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { findProject } from '../config/project.ts'
import { CliFailure, usageFailure } from '../failure.ts'
import { followUp } from '../follow-up.ts'
import { findService } from '../service/creation.ts'
import { isFolderPath } from '../service/resolve-target.ts'
import { plain } from '../terminal/output.ts'

interface UpOptions {
  type?: string
  rootDir?: string
  yes?: boolean
  clearCache?: boolean
  follow: boolean
}

export function addUpCommands(program: BerthCommand): void {
  program
    .command('up')
    .argument('[name]', 'the service; by default that of berth.json, or the name of the folder')
    .argument('[dir]', 'the folder', '.')
    .description('upload a folder and deploy it; creates the service if it does not exist')
    .option('--type <type>', 'the type of a new service, such as private_service or static_site')
    .option('--root-dir <path>', 'the folder of the app in a new service, if it is not the top')
    .option('-y, --yes', 'create the service without asking')
    .option('--clear-cache', 'build without the build cache')
    .option('--no-follow', 'do not wait for the deploy')
    .examples(
      'berth up',
      'berth up shop ./app',
      'berth up ./app                    # called app',
      'berth up blog ./site --type static_site --yes',
    )
    .runs(up)
}

async function up(cli: Cli, first: string | undefined, second: string, options: UpOptions): Promise<number> {
  const { toServiceName } = await import('../source/new-service.ts')
  const { named, folder } = await parseTarget(cli, first, second)
  const project = named === undefined ? findProject(folder) : null
  const name = named ?? project?.service ?? toServiceName(folder)
  const found = await findService(cli, name)
  const existing = found?.state === 'deleting' ? null : found
  printTarget(cli, name, project?.service === undefined ? null : project.path)
  if (existing) assertTakesUploads(existing, options)
  else if (options.type === 'cron_job') throw withoutSchedule(name)
  const deploy = await packAndSend(cli, { name, folder, existing }, options)
  return followUp(cli, deploy, options.follow)
}

interface Target {
  name: string
  folder: string
  existing: Service | null
}

/** Nothing is created or sent before the source is packed. */
async function packAndSend(cli: Cli, target: Target, options: UpOptions): Promise<Deploy> {
  const { approve, createForUpload } = await import('../source/new-service.ts')
  const { packWithProgress } = await import('../source/packing.ts')
  const { uploadSource } = await import('../source/upload.ts')
  const { name } = target
  const { inspected, guess } = await inspectAndGuess(cli, target, options)
  if (guess && !options.yes) await approve(cli, name, guess)
  const packed = await packWithProgress(cli, inspected)
  try {
    if (guess) await createForUpload(cli, name, guess)
    return await uploadSource(cli, packed, { serviceName: name, clearCache: options.clearCache ?? false })
  } finally {
    await packed.file.close()
  }
}

async function inspectAndGuess(cli: Cli, { folder, existing }: Target, options: UpOptions) {
  const { guessService } = await import('../source/new-service.ts')
  const { inspectSource } = await import('../source/packing.ts')
  const inspected = await inspectSource(cli, folder)
  const guess = existing ? null : await guessService(inspected.source, options)
  if (guess?.recipe && !cli.out.isJson) await sayRecipe(cli, guess.recipe)
  return { inspected, guess }
}

async function sayRecipe(cli: Cli, recipe: Recipe): Promise<void> {
  const { sayChoices } = await import('../source/local-recipe.ts')
  cli.out.say('   by a recipe, because there is no Dockerfile (berth init writes one):')
  sayChoices(cli, recipe)
}

function printTarget({ out, serverName }: Cli, name: string, path: string | null): void {
  if (out.isJson) return
  const why = path === null ? '' : ` (from ${plain(path)})`
  out.say(out.tint('dim', ` to ${plain(name)} on ${plain(serverName)}${why}`))
}

/** A single argument that looks like a path is the folder. */
async function parseTarget({ cwd }: Cli, first: string | undefined, second: string) {
  const isPath = first !== undefined && second === '.' && isFolderPath(first)
  const folder = resolve(cwd, isPath ? first : second)
  const stats = await stat(folder).catch(() => null)
  if (!stats?.isDirectory()) throw usageFailure(`${folder} is not a folder`, 'berth up NAME DIR')
  return { named: isPath ? undefined : first, folder }
}

function withoutSchedule(name: string): CliFailure {
  const hint = `berth create ${name} --schedule '0 3 * * *', then: berth up ${name}`
  return usageFailure('a cron job needs a schedule', hint)
}

/** Throws CliFailure for a service that does not accept uploads. */
function assertTakesUploads({ name, type, repo_url, image }: Service, options: UpOptions): void {
  if (options.type && options.type !== type) {
    throw usageFailure(`${name} already exists, as a ${type}`, 'choose another name: berth up NAME')
  }
  const source = repo_url ? 'its repository' : image ? 'its image' : null
  if (!source) return
  throw new CliFailure(`${name} is deployed from ${source}, not from uploads`, {
    hint: `berth deploy ${name} deploys that; another service: berth up NAME`,
  })
}
