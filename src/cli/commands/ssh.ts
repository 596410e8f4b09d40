// A shell, or another command, in a running instance or job run. Words after `--` are the command's.
import { jobPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { usageFailure } from '../failure.ts'
import { splitArguments } from '../service/command-words.ts'
import { parseWholeNumber } from '../service/setting-flags.ts'
import { openShell } from '../shell/shell.ts'

interface ShellOptions {
  instance?: number
  job?: string
}

export function addShellCommands(program: BerthCommand): void {
  program
    .command('ssh')
    .argument('[name]', 'the service')
    .argument('[command...]', 'after --: one word for the shell, or a program with its arguments')
    .description('open a shell in a running instance; or run a command there, with piped input')
    .option('--instance <number>', 'this instance, from 0 (by default the first)', parseWholeNumber)
    .option('--job <id>', 'in the container of this running job run instead')
    .examples(
      'berth ssh shop',
      'berth ssh shop --instance 1 -- bash',
      "berth ssh shop -- 'ps aux | grep worker'",
      'berth ssh shop -- tee /data/notes.txt < notes.txt',
      'berth ssh --job job-01jz3k7d2m8q4r5t6v7w8x9y0z',
    )
    .runs(openInstanceShell)
}

async function openInstanceShell(
  cli: Cli,
  first: string | undefined,
  others: string[],
  { instance, job }: ShellOptions,
): Promise<number> {
  if (cli.out.isJson) throw usageFailure('a shell has no JSON output', 'remove --json')
  const { name, words } = splitArguments(cli, 'ssh', [first, ...others])
  const command = words.length === 1 ? ['/bin/sh', '-c', ...words] : words
  const whenLost = 'the command was ended'
  if (job !== undefined) {
    if (name !== undefined || instance !== undefined) throw usageFailure('--job names the container alone')
    return openShell(cli, `${jobPath(job)}/shell`, command, {
      whenLost,
      whenKilled: 'the command was killed: the job run ended, or reached its memory limit',
      hint: `berth logs --job ${job}`,
    })
  }
  const service = requireServiceName(cli, name)
  const query = instance === undefined ? '' : `?instance=${instance}`
  return openShell(cli, `${servicePath(service)}/shell${query}`, command, {
    whenLost,
    whenKilled: 'the command was killed: the instance stopped, or reached its memory limit',
    hint: `berth status ${service}`,
  })
}
