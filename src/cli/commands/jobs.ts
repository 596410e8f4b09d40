// Job runs in containers like that of the live deploy. Words after `--` are the command's, not Berth's.
import type { DeployDiff } from '../../api/deploy-diff.ts'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { deployPath, fetchNewest, jobPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { exitCodes, orNull, usageFailure } from '../failure.ts'
import { printNext } from '../follow-up.ts'
import { commandOf, noRunsNotice, outcomeOf, runDuration, runStyle, startedBy } from '../job/labels.ts'
import { splitArguments, toShellCommand } from '../service/command-words.ts'
import { resolveService } from '../service/resolve-target.ts'
import { parseSeconds, parseWholeNumber } from '../service/setting-flags.ts'
import { span } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'
import { hasOwnInput } from '../terminal/standard-input.ts'
import { printTable } from '../terminal/table.ts'

interface RunOptions {
  timeout?: number
  /** Undefined if neither --follow nor --no-follow is given. */
  follow?: boolean
  /** Undefined if neither --stdin nor --no-stdin is given. */
  stdin?: boolean
}

export function addJobCommands(program: BerthCommand): void {
  program
    .command('run')
    .argument('[name]', 'the service')
    .argument('[command...]', 'after --: one word for the shell, or a program with its arguments')
    .description('run a command in a new container; with piped input, and its exit code is passed on')
    .option(
      '--timeout <seconds>',
      'stop it after this time (by default the setting of the service: a day)',
      parseSeconds,
    )
    .option('--follow', 'follow the output until the run ends (the default)')
    .option('--no-follow', 'only start it')
    .option('-i, --stdin', 'send standard input (the default for a pipe or file of its own)')
    .option('--no-stdin', 'send no input')
    .examples(
      'berth run shop -- npm run migrate',
      "berth run shop -- 'psql $DATABASE_URL' < dump.sql",
      "berth run shop -- 'pg_dump $DATABASE_URL | gzip' > shop.sql.gz",
      'berth run nightly                 # what a cron job runs, now',
      'berth run shop --timeout 600 --no-follow -- ./import.sh',
    )
    .runs(runCommand)
  program
    .command('jobs')
    .argument('[name]', 'the service')
    .description('list the job runs of a service, newest first')
    .option('--limit <number>', 'how many', parseWholeNumber, 20)
    .examples('berth jobs nightly', 'berth jobs shop --limit 100 --json')
    .runs(listRuns)
}

async function runCommand(
  cli: Cli,
  first: string | undefined,
  others: string[],
  options: RunOptions,
): Promise<number> {
  const { name, words } = splitArguments(cli, 'run', [first, ...others])
  const service = requireServiceName(cli, name)
  const stdin = sendsInput(cli, options)
  const started = await startRun(cli, service, words, { ...options, stdin })
  await sayNotLive(cli, service)
  if (options.follow === false) return leaveRun(cli, started)
  const { concludeRun, followRun } = await import('../job/follow.ts')
  let isFed = !stdin
  if (stdin)
    void sendInput(cli, started).then((isSent) => {
      isFed = isSent
    })
  return concludeRun(cli, await followRun(cli, started, () => isFed))
}

/** A run has the variables of the live version. */
async function sayNotLive({ client, out }: Cli, name: string): Promise<void> {
  const service = await orNull(client.call<Service>('GET', servicePath(name)))
  if (!service?.live_deploy_id) return
  const path = `${deployPath(service.live_deploy_id)}/diff`
  const diff = await orNull(client.call<DeployDiff>('GET', path, { query: { against: 'saved' } }))
  const { added = [], changed = [], removed = [] } = diff?.env ?? {}
  const keys = [...added, ...changed, ...removed]
  if (keys.length === 0) return
  const what = `${keys.join(', ')}: what is saved is not live yet, and not in this run`
  out.say(` ${out.tint('yellow', '!')} ${plain(what)}: berth restart ${plain(service.name)}`)
}

function sendsInput(cli: Cli, { follow, stdin }: RunOptions): boolean {
  const cannotSend = follow === false || cli.flags.tokenFile === '-'
  if (stdin && cannotSend) throw usageFailure('--stdin needs standard input, and to follow the run')
  return stdin ?? (!cannotSend && hasOwnInput(cli))
}

/** Whether all of it was sent. A run whose input is cut fails, which its follower reports. */
async function sendInput(cli: Cli, { id }: JobRun): Promise<boolean> {
  const { sendStandardInput } = await import('../shell/shell.ts')
  try {
    await sendStandardInput(cli, `${jobPath(id)}/input`)
    return true
  } catch (error) {
    const { message } = error as Error
    if (message !== '') cli.out.say(` ${cli.out.tint('yellow', '!')} its input: ${plain(message)}`)
    return false
  }
}

async function startRun({ client }: Cli, service: string, words: string[], { timeout, stdin }: RunOptions) {
  const command = toShellCommand(words)
  // An empty variable of a script must not start the command of a cron job.
  if (words.length > 0 && command.trim() === '') throw usageFailure('the command is empty')
  const body = {
    ...(words.length > 0 ? { command } : {}),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
    ...(stdin ? { stdin } : {}),
  }
  return client.call<JobRun>('POST', `${servicePath(service)}/jobs`, { body })
}

function leaveRun(cli: Cli, run: JobRun): number {
  if (cli.out.isJson) cli.out.json(run)
  else cli.out.print(plain(run.id))
  printNext(cli, `berth logs --job ${run.id} -f`)
  return exitCodes.ok
}

async function listRuns(cli: Cli, name: string | undefined, { limit }: { limit: number }): Promise<void> {
  const { client, out } = cli
  const path = servicePath(await resolveService(cli, name))
  const runs = await fetchNewest<JobRun>(client, `${path}/jobs`, limit)
  if (out.isJson) return out.json(runs)
  const service = await client.call<Service>('GET', path)
  if (runs.length === 0) return out.say(noRunsNotice(service))
  const timeZone = service.timezone ?? 'UTC'
  printTable(out, runs, [
    { heading: 'RUN', text: ({ id }) => id },
    { heading: 'STATUS', text: outcomeOf, style: runStyle },
    { heading: 'BY', text: (run) => startedBy(run, timeZone) },
    { heading: 'TOOK', text: runDuration, isRight: true },
    { heading: 'AGE', text: ageOf, isRight: true },
    { heading: 'COMMAND', text: commandOf, isFlexible: true },
  ])
}

function ageOf({ created_at }: JobRun): string {
  return span((Date.now() - Date.parse(created_at)) / 1000)
}
