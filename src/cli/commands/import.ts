// `berth import`: a Compose file becomes a berth.yaml, and what could not be carried over is named.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
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
    .argument('[file]', 'a Compose file; by default compose.yaml or docker-compose.yml')
    .description('write a berth.yaml from a Compose file; variables: berth env import')
    .option('-y, --yes', `replace ${target} without asking`)
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
  const read = (path: string) => {
    const text = readText(resolve(folder, path))
    return text === null ? null : parseEnvText(text, path)
  }
  const env = new Map((read('.env') ?? []).map(({ key, value }) => [key, value]))
  const text = await readFileOrInput(cli, file, fileLimitMib)
  try {
    const imported = importCompose(text, { env, readEnvFile: read, base: relative(cwd, folder) })
    if (out.isJson) return out.json(imported)
    await write(cli, printBlueprint(imported.blueprint), yes)
    for (const { line, what, reason } of imported.remaining)
      out.print(`${plain(`${file}:${line} ${what}`)}: ${out.paint('dim', plain(reason))}`)
  } catch (error) {
    throw error instanceof InvalidYaml ? usageFailure(`${file}: ${error.message}`) : error
  }
  printDone(cli, `wrote ${target}; above is what it does not have, and why`)
  out.say('   secrets and values from .env are not in it: berth apply asks, or --secrets FILE reads them')
  printNext(cli, 'berth plan')
}

async function write(cli: Cli, text: string, yes = false): Promise<void> {
  const path = join(cli.cwd, target)
  const question = { message: `Replace ${target}?`, instead: 'confirm with --yes' }
  const isFree = yes || !existsSync(path) || (await confirm(cli, question))
  if (!isFree) throw new CliFailure('nothing was written')
  writeFileSync(path, text)
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
