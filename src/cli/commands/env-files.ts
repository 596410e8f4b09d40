// Variables from a file, or in an editor: changes are shown and confirmed before they are saved.
import type { Command } from 'commander'
import type { EnvChanges } from '../../api/env.ts'
import { toEnvLine } from '../../domain/env-file.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { Runner } from '../command.ts'
import { examples } from '../examples.ts'
import { CliFailure } from '../failure.ts'
import { compareEnv, type EnvDifference, isEmpty, showDifference } from '../service/env-changes.ts'
import { parseEnvText, readEnvFile } from '../service/env-file.ts'
import { addSavingOptions, readEnv, type SavingOptions, saveEnv } from '../service/env-saving.ts'
import { editText } from '../terminal/editor.ts'
import { plain } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'

interface ImportOptions extends SavingOptions {
  replace?: boolean
  yes?: boolean
}

export function addEnvFileCommands(program: Command, run: Runner): void {
  const env = program.commands.find((command) => command.name() === 'env')!
  addSavingOptions(env.command('edit').argument('<name>', 'the service'))
    .description('change variables in $VISUAL or $EDITOR')
    .option('--yes', 'save without asking')
    .addHelpText('after', examples('berth env edit shop', 'EDITOR=nano berth env edit shop --restart'))
    .action(run(editEnv))
  addSavingOptions(
    env.command('import').argument('<name>', 'the service').argument('[file]', '- is stdin', '.env'),
  )
    .description('set the variables of a file; shows the changes first')
    .option('--replace', 'remove the variables that are not in the file')
    .option('--yes', 'save without asking')
    .addHelpText(
      'after',
      examples(
        'berth env import shop .env',
        'berth env import shop production.env --replace --yes --restart',
      ),
    )
    .action(run(importEnv))
}

async function importEnv(cli: Cli, name: string, file: string, options: ImportOptions): Promise<number> {
  const wanted = await readEnvFile(cli, file)
  if (wanted.length === 0)
    throw new CliFailure(`${file} contains no variables`, { hint: 'a line is KEY=value' })
  const previous = await readEnv(cli, name)
  const difference = compareEnv(previous, wanted)
  return agreeAndSave(cli, name, options.replace ? difference : { ...difference, removed: [] }, options)
}

async function editEnv(cli: Cli, name: string, options: ImportOptions): Promise<number> {
  const previous = await readEnv(cli, name)
  const text = [
    `# The variables of ${plain(name)}, one KEY=value per line. Save and close to continue.`,
    ...previous.map(toEnvLine),
    '',
  ].join('\n')
  const wanted = parseEnvText(await editText(cli, text, `${name}.env`), 'the edited text')
  return agreeAndSave(cli, name, compareEnv(previous, wanted), options)
}

async function agreeAndSave(cli: Cli, name: string, difference: EnvDifference, options: ImportOptions) {
  const { out } = cli
  if (isEmpty(difference)) {
    out.say('nothing to change')
    return 0
  }
  const change = { set: [...difference.added, ...difference.changed], unset: difference.removed }
  showDifference(out, difference)
  await reportUnresolved(cli, name, change)
  const question = { message: `Save this for ${plain(name)}?`, instead: 'confirm with --yes' }
  if (!options.yes && !(await confirm(cli, question))) throw new CliFailure('nothing was saved')
  return saveEnv(cli, name, change, options)
}

/**
 * Reports references that the server cannot resolve. The dry run also rejects an invalid change before the
 * user confirms it.
 */
async function reportUnresolved({ client, out }: Cli, name: string, body: object): Promise<void> {
  const { unresolved } = await client.call<EnvChanges>('PATCH', `${servicePath(name)}/env`, {
    body,
    query: { dry_run: true },
  })
  for (const key of unresolved) {
    out.say(`  ${out.tint('yellow', '!')} ${plain(key)} refers to something that does not exist`)
  }
}
