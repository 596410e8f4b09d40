// `berth init`, which writes the Dockerfile of a recipe into a folder, and `berth recipe`, which shows it.
import { statSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, posix, resolve } from 'node:path'
import type { Recipe as ServiceRecipe } from '../../api/recipe.ts'
import { findUsualDockerfile } from '../../domain/dockerfiles.ts'
import type { Recipe, Settings } from '../../recipes/index.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { printDone, printNext } from '../follow-up.ts'
import { isFolderPath } from '../service/resolve-target.ts'
import { plain, type Style } from '../terminal/output.ts'

interface InitOptions {
  dryRun?: boolean
  type?: Settings['type']
  rootDir?: string
  buildCommand?: string
  startCommand?: string
  publishDir?: string
}

interface RecipeOptions extends InitOptions {
  diff?: boolean
}

interface Made {
  recipe: Recipe
  dockerfile: string
  ignoreFile: string
}

const styles: Record<string, Style> = { '-': 'red', '+': 'green' }

export function addRecipeCommands(program: BerthCommand): void {
  withRecipeOptions(program.command('init'))
    .argument('[dir]', 'the folder of the source', '.')
    .description('write the Dockerfile of a folder, by a recipe; from then on it is yours')
    .option('--dry-run', 'only print it')
    .examples('berth init --dry-run', "berth init ./shop --start-command 'node server.js'")
    .runs(init)
  withRecipeOptions(program.command('recipe'))
    .argument('[dir or name]', 'the folder of the source, or a service', '.')
    .description('show what a recipe chooses, and why')
    .option('--diff', "show what it would change in the folder's Dockerfile")
    .examples('berth recipe', 'berth recipe shop', 'berth recipe --diff ./shop')
    .runs((cli: Cli, target: string, options: RecipeOptions) => {
      if (options.diff) return showDifference(cli, target, options)
      return isFolderPath(target) ? showChoices(cli, target, options) : showServiceRecipe(cli, target)
    })
}

function withRecipeOptions(command: BerthCommand): BerthCommand {
  return command
    .option('--type <type>', 'the type of the service, such as static_site')
    .option('--root-dir <path>', 'the folder of the app, if it is not the top')
    .option('--build-command <command>', 'instead of the build command of the recipe')
    .option('--start-command <command>', 'instead of the start command of the recipe')
    .option('--publish-dir <path>', 'the folder of the pages that a build makes')
}

async function init(cli: Cli, directory: string, options: InitOptions): Promise<void> {
  const folder = resolve(cli.cwd, directory)
  const { recipe, dockerfile, ignoreFile } = await makeRecipe(cli, folder, options)
  if (cli.out.isJson) cli.out.json({ ...recipe, dockerfile, ignore_file: ignoreFile })
  if (options.dryRun) {
    if (!cli.out.isJson) for (const line of dockerfile.trimEnd().split('\n')) cli.out.print(plain(line))
    return
  }
  const rootDir = options.rootDir ?? '.'
  // In a workspace the build sees the whole source, and the Dockerfile is in the folder of its app.
  const isShared = posix.normalize(rootDir) !== (recipe.context || '.')
  const target = join(folder, rootDir)
  if (findUsualDockerfile(await readdir(target))) throw alreadyThere(target)
  await create(join(target, 'Dockerfile'), dockerfile)
  await create(join(target, isShared ? 'Dockerfile.dockerignore' : '.dockerignore'), ignoreFile).catch(
    (error: unknown) => {
      if (!isExisting(error)) throw error
    },
  )
  if (cli.out.isJson) return
  const { sayChoices } = await import('../source/local-recipe.ts')
  sayChoices(cli, recipe)
  printDone(cli, `wrote the Dockerfile to ${target}`)
  printNext(cli, nextCommand(recipe, isShared ? posix.join(rootDir, 'Dockerfile') : null))
}

function nextCommand({ site }: Recipe, dockerfilePath: string | null): string {
  if (dockerfilePath) return `berth update NAME --root-dir '' --dockerfile ${dockerfilePath}`
  return site ? `berth create NAME --type static_site --publish-dir ${site.folder}` : 'berth up'
}

async function makeRecipe(cli: Cli, folder: string, options: InitOptions): Promise<Made> {
  const { printDockerfile, printIgnoreFile } = await import('../../recipes/index.ts')
  const { chooseLocalRecipe } = await import('../source/local-recipe.ts')
  const { listSource } = await import('../source/source-entries.ts')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageFailure(`${folder} is not a folder`, 'name the folder of a source, such as ./shop')
  }
  const source = await listSource(folder, { signal: cli.signal, onProgress: () => {} })
  const recipe = await chooseLocalRecipe(source, {
    rootDir: options.rootDir,
    build_command: options.buildCommand ?? null,
    start_command: options.startCommand ?? null,
    publish_dir: options.publishDir ?? null,
    ...(options.type ? { type: options.type } : {}),
  })
  return { recipe, dockerfile: printDockerfile(recipe), ignoreFile: printIgnoreFile(recipe) }
}

async function create(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' })
}

function isExisting(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
}

function alreadyThere(folder: string): CliFailure {
  return new CliFailure(`${folder} has a Dockerfile already: it is yours, and it wins over recipes`, {
    hint: `what a recipe would change: berth recipe --diff ${folder}`,
  })
}

async function showDifference(cli: Cli, directory: string, options: RecipeOptions): Promise<void> {
  const folder = resolve(cli.cwd, directory)
  const { difference } = await import('../../recipes/index.ts')
  const { dockerfile } = await makeRecipe(cli, folder, options)
  const target = join(folder, options.rootDir ?? '')
  const path = join(target, findUsualDockerfile(await readdir(target)) ?? 'Dockerfile')
  const own = await readFile(path, 'utf8').catch(() => {
    throw new CliFailure(`${path} does not exist`, {
      exitCode: exitCodes.notFound,
      hint: 'berth init writes it',
    })
  })
  const lines = difference(own, dockerfile)
  if (cli.out.isJson) return cli.out.json({ difference: lines })
  if (lines.length === 0) return printDone(cli, `${path} is what a recipe makes today`)
  for (const line of lines) printLine(cli, line)
}

async function showChoices(cli: Cli, directory: string, options: RecipeOptions): Promise<void> {
  const { recipe } = await makeRecipe(cli, resolve(cli.cwd, directory), options)
  if (cli.out.isJson) return cli.out.json(recipe)
  const { sayChoices } = await import('../source/local-recipe.ts')
  const own = findUsualDockerfile(await readdir(join(resolve(cli.cwd, directory), options.rootDir ?? '')))
  if (own) cli.out.say(plain(`${own} is there, and it wins: this is what --builder recipe would do`))
  cli.out.print(plain(recipe.title))
  sayChoices(cli, recipe)
}

async function showServiceRecipe({ client, out, cwd }: Cli, name: string): Promise<void> {
  const path = `${servicePath(name)}/recipe`
  const recipe = await client.call<ServiceRecipe>('GET', path).catch((error: unknown) => {
    const isFolder = statSync(join(cwd, name), { throwIfNoEntry: false })?.isDirectory()
    if (!isFolder || !(error instanceof CliFailure)) throw error
    const hint = `did you mean the folder? berth recipe ./${name}`
    throw new CliFailure(error.message, { exitCode: error.exitCode, hint })
  })
  if (out.isJson) return out.json(recipe)
  for (const line of recipe.dockerfile.trimEnd().split('\n')) out.print(plain(line))
}

function printLine({ out }: Cli, line: string): void {
  const style = styles[line[0] ?? '']
  out.print(style ? out.paint(style, plain(line)) : plain(line))
}
