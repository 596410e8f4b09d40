// All commands of `berth`: each file of commands/ adds its own, and help shows them in these groups.

import { styleText } from 'node:util'
import { type Argument, type Command, CommanderError, type OutputConfiguration } from 'commander'
import { version } from '../version.ts'
import { openSession } from './client/session.ts'
import { BerthCommand, perform, printFailure } from './command.ts'
import { addBlueprintCommands } from './commands/blueprint.ts'
import { addCopyCommands } from './commands/cp.ts'
import { addBackupPlaceCommands } from './commands/data/backup-places.ts'
import { addDatastoreCommands } from './commands/data/datastores.ts'
import { addDiskCommands } from './commands/data/disks.ts'
import { addRestoreMissingCommand } from './commands/data/restore-missing.ts'
import { addTrashCommands } from './commands/data/trash.ts'
import { addDeployKeyCommand } from './commands/deploy-key.ts'
import { addDeployCommands, addRollbackCommands } from './commands/deploys.ts'
import { addDiffCommands } from './commands/diff.ts'
import { addDomainCommands } from './commands/domains.ts'
import { addEnvCommands } from './commands/env.ts'
import { addHistoryCommands } from './commands/history.ts'
import { addDeployHookCommand } from './commands/hooks.ts'
import { addImportCommands } from './commands/import.ts'
import { addInstanceCommands } from './commands/instances.ts'
import { addJobCommands } from './commands/jobs.ts'
import { addLogCommands } from './commands/logs.ts'
import { addOpenCommands } from './commands/open.ts'
import { addRecipeCommands } from './commands/recipe.ts'
import { addScheduleCommands } from './commands/schedule.ts'
import { addActivityCommands } from './commands/server/activity.ts'
import { addActorCommands } from './commands/server/actors.ts'
import { addAlertCommands } from './commands/server/alerts.ts'
import { addApiCommands } from './commands/server/api.ts'
import { addAuditCommands } from './commands/server/audit.ts'
import { addCertificateCommands } from './commands/server/certs.ts'
import { addChartCommands } from './commands/server/charts.ts'
import { addCompletionCommands } from './commands/server/completion.ts'
import { addDoctorCommands } from './commands/server/doctor.ts'
import { addEdgeCommands } from './commands/server/edge.ts'
import { addGitCommands } from './commands/server/git.ts'
import { addLoginCommands } from './commands/server/login.ts'
import { addNotifyCommands } from './commands/server/notify.ts'
import { addRegistryCommands } from './commands/server/registries.ts'
import { addServerBackupCommands } from './commands/server/server-backups.ts'
import { addServerCommands } from './commands/server/servers.ts'
import { addServiceCommands } from './commands/services.ts'
import { addShellCommands } from './commands/ssh.ts'
import { addStatusCommands } from './commands/status.ts'
import { addUpCommands } from './commands/up.ts'
import { addWatchedCommand } from './commands/watched.ts'
import { addWhyCommands } from './commands/why.ts'
import { exitCodes } from './failure.ts'
import { shareOptions } from './global-options.ts'
import type { Invocation } from './invocation.ts'
import { openOutput, wantsColour } from './terminal/output.ts'
import { wrongUsage } from './wrong-usage.ts'

/** In the order of the help. */
const groups: Record<string, ((program: BerthCommand) => void)[]> = {
  'Deploy:': [
    addUpCommands,
    addRecipeCommands,
    addDeployCommands,
    addRollbackCommands,
    addDeployKeyCommand,
    addDeployHookCommand,
    addWatchedCommand,
    addDiffCommands,
    addWhyCommands,
    addHistoryCommands,
  ],
  'Services:': [addServiceCommands, addEnvCommands, addDomainCommands, addCertificateCommands],
  'Blueprints:': [addBlueprintCommands, addImportCommands],
  'What runs:': [
    addStatusCommands,
    addOpenCommands,
    addLogCommands,
    addShellCommands,
    addCopyCommands,
    addInstanceCommands,
  ],
  'Jobs:': [addJobCommands, addScheduleCommands],
  'Data:': [
    addDatastoreCommands,
    addBackupPlaceCommands,
    addDiskCommands,
    addRestoreMissingCommand,
    addTrashCommands,
  ],
  'Server:': [
    addLoginCommands,
    addServerCommands,
    addDoctorCommands,
    addServerBackupCommands,
    addEdgeCommands,
    addGitCommands,
    addRegistryCommands,
    addNotifyCommands,
    addAlertCommands,
    addActivityCommands,
    addAuditCommands,
    addActorCommands,
    addChartCommands,
  ],
  'More:': [addApiCommands, addCompletionCommands],
}

export async function run(invocation: Invocation): Promise<number> {
  const { args, env } = invocation
  if (args.includes('--no-color')) disableColours(env)
  let exitCode: number = exitCodes.ok
  const program = new BerthCommand('berth', (action) => async (...given) => {
    const cli = openSession(invocation, program.opts())
    exitCode = await perform(cli, () => action(cli, ...given))
  }).configureOutput(helpFor(invocation))
  try {
    await buildProgram(program, args).parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok
    return printFailure(openOutput({ ...invocation, isJson: false }), error)
  }
}

// Sets the variable that the prompt library reads.
function disableColours(env: NodeJS.ProcessEnv): void {
  env.NO_COLOR = '1'
  delete env.FORCE_COLOR
}

export function buildProgram(program: BerthCommand, args: string[] = []): BerthCommand {
  program
    .description('The command line of Berth, a self-hosted deployment server')
    .version(version, '-V, --version', 'the version of berth')
    .helpOption('-h, --help', 'this help, or that of a command')
    .helpCommand('help [command]', 'the help of a command')
    .configureOutput({ outputError: () => undefined, writeErr: () => undefined })
    .enablePositionalOptions()
    .examples('berth login', 'berth up', 'berth logs shop -f')
  styleHelp(program)
  for (const [heading, additions] of Object.entries(groups)) {
    program.commandsGroup(heading)
    for (const add of additions) add(program)
  }
  shareOptions(program)
  for (const command of everyCommand(program)) command.exitOverride((error) => exitWith(command, error, args))
  return program
}

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** Help and version also end the program with an error. Errors with exit code 0 pass to `run` unchanged. */
function exitWith(command: Command, error: CommanderError, args: string[]): never {
  throw error.exitCode === 0 ? error : wrongUsage(command, error, args)
}

const maxColumns = 100

function helpFor({ stdout, env }: Invocation): OutputConfiguration {
  return {
    getOutHelpWidth: () => Math.min(maxColumns, stdout.columns || 80),
    getOutHasColors: () => wantsColour(stdout, env),
    writeOut: (text) => void stdout.write(text),
  }
}

/** Sets the style of the help. Commands created from this program afterwards inherit the style. */
function styleHelp(program: Command): void {
  program
    .configureHelp({
      visibleCommands: ({ commands }) => commands.filter((command) => command.name() !== 'complete'),
      styleTitle: (text) => styleText('bold', text, { validateStream: false }),
      // The part after a semicolon is shown only in the command's own help.
      subcommandDescription: (command) => command.description().split(';')[0]!,
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
    })
    .addHelpText('afterAll', ({ command }) =>
      command === program
        ? '\nDetails: berth COMMAND --help. The server has the manual at /docs.'
        : '\nEvery command also takes --server, --token-file, --json and --no-color: berth --help',
    )
}

/** `[name]`, or `name` if it is required. */
function termOf(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}…` : argument.name()
  return argument.required ? name : `[${name}]`
}
