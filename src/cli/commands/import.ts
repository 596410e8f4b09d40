// `berth import`: a Compose file becomes a berth.yaml, and what could not be carried over is named.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { printSecrets, type Secret, secretsFile } from '../../blueprint/secrets.ts'
import { envFileLimitMib } from '../../domain/env-file.ts'
import { count } from '../../quantities.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, usageFailure } from '../failure.ts'
import { printDone, printNext } from '../follow-up.ts'
import { parseEnvText } from '../service/env-file.ts'
import { plain } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { readFileOrInput } from '../terminal/standard-input.ts'

/** In the order in which Compose itself looks for them. */
const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']
const target = 'berth.yaml'
const fileLimitMib = 1

export function addImportCommands(program: BerthCommand): void {
  program
    .command('import')
    .argument('[file]', `a Compose file; by default ${composeFiles.join(', ')}`)
    .description('write a berth.yaml and secrets from a Compose file; for variables alone: berth env import')
    .option('-y, --yes', `replace ${target} and ${secretsFile} without asking`)
    .examples('berth import', 'berth import docker-compose.yml --yes')
    .runs(importFile)
}

async function importFile(cli: Cli, given: string | undefined, { yes }: { yes?: boolean }): Promise<void> {
  const { cwd, out } = cli
  const file = given ?? composeFiles.find((name) => existsSync(resolve(cwd, name)))
  if (file === undefined) throw usageFailure('there is no Compose file here', 'name it: berth import FILE')
  const { importCompose } = await import('../../blueprint/compose/compose.ts')
  const { printBlueprint } = await import('../../blueprint/print.ts')
  const { InvalidYaml } = await import('../../blueprint/yaml.ts')
  const folder = dirname(resolve(cwd, file))
  const readEnvFile = (path: string) => {
    const text = readText(resolve(folder, path))
    return text === null ? null : parseEnvText(text, path, true)
  }
  const surroundings = {
    env: new Map((readEnvFile('.env') ?? []).map(({ key, value }) => [key, value])),
    readEnvFile,
    readText: (path: string) => readText(resolve(folder, path)),
    isFolder: (path: string) =>
      statSync(resolve(folder, path), { throwIfNoEntry: false })?.isDirectory() ?? null,
    base: relative(cwd, folder),
    folderName: basename(folder),
  }
  const hint = 'name a Compose file: berth import FILE'
  const text = await readFileOrInput(cli, file, fileLimitMib, hint)
  try {
    const { secrets, ...imported } = importCompose(text, surroundings)
    if (out.isJson) return out.json(imported)
    await write(cli, printBlueprint(imported.blueprint), secrets, yes)
    for (const { line, what, reason } of imported.remaining)
      out.print(`${plain(`${file}:${line} ${what}`)}: ${out.paint('dim', plain(reason))}`)
    printDone(cli, `wrote ${target}; above is what it does not have, and why`)
    if (secrets.length > 0) {
      const values = `the values of ${count(secrets.length, 'secret')}`
      out.say(`   ${secretsFile} has ${values}: keep it out of git, and delete it after berth apply`)
    }
  } catch (error) {
    throw error instanceof InvalidYaml ? usageFailure(`${file}: ${error.message}`) : error
  }
  printNext(cli, 'berth plan')
}

async function write(cli: Cli, text: string, secrets: Secret[], yes = false): Promise<void> {
  const [path, secretsPath] = [join(cli.cwd, target), join(cli.cwd, secretsFile)]
  const taken = [target, ...(secrets.length > 0 ? [secretsFile] : [])].filter((name) =>
    existsSync(join(cli.cwd, name)),
  )
  const question = { message: `Replace ${taken.join(' and ')}?`, instead: 'confirm with --yes' }
  const isFree = yes || taken.length === 0 || (await confirm(cli, question))
  if (!isFree) throw new CliFailure('nothing was written')
  writeFileSync(path, text)
  if (secrets.length === 0) return
  // Not through a link, and with its own mode.
  rmSync(secretsPath, { force: true })
  writeFileSync(secretsPath, printSecrets(secrets), { mode: 0o600, flag: 'wx' })
}

/** Null for what is no file or larger than any of them may be, such as a device. */
function readText(path: string): string | null {
  try {
    const facts = statSync(path)
    const isReadable = facts.isFile() && facts.size <= envFileLimitMib * 1024 * 1024
    return isReadable ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}
