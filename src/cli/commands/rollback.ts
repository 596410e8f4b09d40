// `berth rollback`: runs the image, settings and variables of an earlier deploy again.
import type { Deploy } from '../../api/deploy.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { followUp } from '../follow-up.ts'
import { age } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'
import { pick } from '../terminal/prompts.ts'

const maxDeploysSearched = 50

export function addRollbackCommands(program: BerthCommand): void {
  program
    .command('rollback')
    .argument('[name]', 'the service')
    .argument('[deploy]', 'the deploy; without it you choose')
    .description('go back to an earlier deploy')
    .option('--no-follow', 'do not wait for it')
    .examples('berth rollback shop', 'berth rollback shop dep-01jzx3v8m2q4t6w8y0a2c4e6g8')
    .runs(rollback)
}

type Options = { follow: boolean }

async function rollback(
  cli: Cli,
  name: string | undefined,
  deployId: string | undefined,
  { follow }: Options,
) {
  if (deployId !== undefined && !deployId.startsWith('dep-')) {
    throw usageFailure(
      `DEPLOY is '${deployId}': it must be an id such as dep-…`,
      `berth deploys ${name} lists them`,
    )
  }
  const path = servicePath(requireServiceName(cli, name))
  const deploy_id = deployId ?? (await pickFormerDeploy(cli, path))
  const deploy = await cli.client.call<Deploy>('POST', `${path}/rollback`, { body: { deploy_id } })
  return followUp(cli, deploy, follow)
}

async function pickFormerDeploy(cli: Cli, path: string): Promise<string> {
  const query = { limit: maxDeploysSearched }
  const deploys = await cli.client.call<Deploy[]>('GET', `${path}/deploys`, { query })
  const previous = deploys.filter(({ status }) => status === 'deactivated')
  if (previous.length === 0) {
    throw new CliFailure('there is no earlier deploy to roll back to', { exitCode: exitCodes.notFound })
  }
  return pick(cli, {
    message: 'Which deploy should run again?',
    instead: `give the id of one, such as ${previous[0]!.id}`,
    choices: previous.map((deploy) => ({ value: deploy.id, label: labelOf(deploy), hint: plain(deploy.id) })),
  })
}

/** `3h ago  4f2a9c1  Fix the cart` */
function labelOf({ id, created_at, commit_sha, commit_message, source, trigger }: Deploy): string {
  const [subject = ''] = (commit_message ?? '').split('\n')
  const what = commit_sha
    ? `${commit_sha.slice(0, 7)}  ${subject}`
    : (source.image ?? `${trigger} …${id.slice(-6)}`)
  return plain(`${age(created_at).padEnd(12)}  ${what}`).trimEnd()
}
