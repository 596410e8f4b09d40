// All commands of `berth`: each file of commands/ adds its own, and help shows them in these groups.
import { Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { createRunner, printFailure, type Runner } from './command.ts'
import { addCreateCommands } from './commands/create.ts'
import { addDatastoreCommands } from './commands/data/datastores.ts'
import { addDiskCommands } from './commands/data/disks.ts'
import { addTrashCommands } from './commands/data/trash.ts'
import { addDeployCommands } from './commands/deploys.ts'
import { addDomainCommands } from './commands/domains.ts'
import { addEnvCommands } from './commands/env.ts'
import { addEnvFileCommands } from './commands/env-files.ts'
import { addHistoryCommands } from './commands/history.ts'
import { addInstanceCommands } from './commands/instances.ts'
import { addJobCommands } from './commands/jobs.ts'
import { addLogCommands } from './commands/logs.ts'
import { addOpenCommands } from './commands/open.ts'
import { addRollbackCommands } from './commands/rollback.ts'
import { addScheduleCommands } from './commands/schedule.ts'
import { addActorCommands } from './commands/server/actors.ts'
import { addApiCommands } from './commands/server/api.ts'
import { addCertificateCommands } from './commands/server/certs.ts'
import { addCompletionCommands } from './commands/server/completion.ts'
import { addEdgeCommands } from './commands/server/edge.ts'
import { addGitCommands } from './commands/server/git.ts'
import { addLoginCommands } from './commands/server/login.ts'
import { addRegistryCommands } from './commands/server/registries.ts'
import { addServerCommands } from './commands/server/servers.ts'
import { addServiceCommands } from './commands/services.ts'
import { addStatusCommands } from './commands/status.ts'
import { addUpCommands } from './commands/up.ts'
import { addWhyCommands } from './commands/why.ts'
import { examples } from './examples.ts'
import { exitCodes } from './failure.ts'
import { shareOptions } from './global-options.ts'
import { helpFor, styleHelp } from './help.ts'
import type { Invocation } from './invocation.ts'
import { openOutput } from './terminal/output.ts'
import { wrongUsage } from './wrong-usage.ts'

const groups: Record<string, string[]> = {
  'Deploy:': ['up', 'deploy', 'deploys', 'cancel', 'rollback', 'why', 'history'],
  'Services:': ['services', 'create', 'show', 'update', 'delete', 'env', 'domains', 'certs'],
  'What runs:': ['status', 'open', 'logs', 'restart', 'scale', 'suspend', 'resume'],
  'Jobs:': ['run', 'jobs', 'schedule'],
  'Data:': ['db', 'disks', 'trash'],
  'Server:': [
    'login',
    'logout',
    'whoami',
    'servers',
    'info',
    'edge',
    'git',
    'registries',
    'actors',
    'retry',
    'discard',
  ],
  'More:': ['api', 'completion'],
}

/** Runs the command that the arguments name. Resolves with its exit code. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, env } = invocation
  if (args.includes('--no-color')) disableColours(env)
  const program = new Command('berth').configureOutput(helpFor(invocation))
  let exitCode: number = exitCodes.ok
  const runner = createRunner(program, invocation, (code) => {
    exitCode = code
  })
  try {
    await buildProgram(program, runner, args).parseAsync(args.length > 0 ? args : ['--help'], {
      from: 'user',
    })
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

/** Adds all commands; the runner executes their actions. */
export function buildProgram(program: Command, run: Runner, args: string[] = []): Command {
  program
    .description('The command line of Berth, a self-hosted deployment server')
    .version(version, '-V, --version', 'the version of berth')
    .helpOption('-h, --help', 'this help, or that of a command')
    .helpCommand('help [command]', 'the help of a command')
    .configureOutput({ outputError: () => undefined, writeErr: () => undefined })
    .enablePositionalOptions()
    .addHelpText('after', examples('berth login', 'berth up', 'berth logs shop -f'))
  styleHelp(program)
  for (const add of additions) add(program, run)
  groupCommands(program)
  shareOptions(program)
  for (const command of everyCommand(program)) command.exitOverride((error) => exitWith(command, error, args))
  return program
}

const additions = [
  addUpCommands,
  addDeployCommands,
  addWhyCommands,
  addHistoryCommands,
  addLogCommands,
  addServiceCommands,
  addCreateCommands,
  addEnvCommands,
  addEnvFileCommands,
  addDomainCommands,
  addCertificateCommands,
  addStatusCommands,
  addOpenCommands,
  addInstanceCommands,
  addRollbackCommands,
  addJobCommands,
  addScheduleCommands,
  addDatastoreCommands,
  addDiskCommands,
  addTrashCommands,
  addLoginCommands,
  addServerCommands,
  addGitCommands,
  addRegistryCommands,
  addEdgeCommands,
  addActorCommands,
  addApiCommands,
  addCompletionCommands,
]

/** The command with all of its subcommands. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** Sorts the commands in the order of the help. Commands without a group come last. */
function groupCommands(program: Command): void {
  const places = Object.values(groups).flat()
  const placeOf = (command: Command) => places.indexOf(command.name()) + 1 || Number.POSITIVE_INFINITY
  const commands = program.commands as Command[]
  commands.sort((one, other) => placeOf(one) - placeOf(other))
  for (const command of commands) {
    const group = Object.keys(groups).find((heading) => groups[heading]!.includes(command.name()))
    if (group) command.helpGroup(group)
  }
}

/** Help and version also end the program with an error. Errors with exit code 0 pass to `run` unchanged. */
function exitWith(command: Command, error: CommanderError, args: string[]): never {
  throw error.exitCode === 0 ? error : wrongUsage(command, error, args)
}
