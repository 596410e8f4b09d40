// Deploys of a service: start, list, cancel (also a job run), and go back to an earlier one.
import type { Deploy } from '../../api/deploy.ts'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { deployPath, fetchNewest, jobPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { deployStyle, durationOf, originOf, requesterName } from '../deploy/labels.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { followUp, printDone } from '../follow-up.ts'
import { resolveService } from '../service/resolve-target.ts'
import { parseWholeNumber } from '../service/setting-flags.ts'
import { age } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'
import { pick } from '../terminal/prompts.ts'
import { printList } from '../terminal/table.ts'

interface DeployOptions {
  commit?: string
  clearCache?: boolean
  follow: boolean
}

export function addDeployCommands(program: BerthCommand): void {
  program
    .command('deploy')
    .argument('[name]', 'the service')
    .description('deploy its repository, image or last upload; follows it')
    .option('--commit <sha>', 'this commit or tag instead of the head of its branch')
    .option('--clear-cache', 'build without the build cache')
    .option('--no-follow', 'do not wait for it')
    .examples('berth deploy shop', 'berth deploy shop --commit 4f2c1ab --no-follow')
    .runs(deploy)
  program
    .command('deploys')
    .argument('[name]', 'the service')
    .description('list the deploys of a service, newest first')
    .option('--limit <number>', 'how many', parseWholeNumber, 20)
    .examples('berth deploys shop', 'berth deploys shop --limit 100 --json')
    .runs(listDeploys)
  program
    .command('cancel')
    .argument('<deploy>', 'a deploy, a job run, or a service for its queued or running deploy')
    .description('cancel an unfinished deploy or job run; the live version keeps serving')
    .examples(
      'berth cancel shop',
      'berth cancel dep-01k5yq0v3nhx8m2r7c9d4f6gbt',
      'berth cancel job-01k5yq0v3nhx8m2r7c9d4f6gbt',
    )
    .runs(cancel)
}

async function deploy(cli: Cli, name: string | undefined, options: DeployOptions): Promise<number> {
  const { commit, clearCache, follow } = options
  const body = { ...(commit ? { commit } : {}), ...(clearCache ? { clear_cache: true } : {}) }
  const path = `${servicePath(requireServiceName(cli, name))}/deploys`
  return followUp(cli, await cli.client.call<Deploy>('POST', path, { body }), follow)
}

async function listDeploys(cli: Cli, name: string | undefined, { limit }: { limit: number }) {
  const { client, out } = cli
  const service = await resolveService(cli, name)
  const path = `${servicePath(service)}/deploys`
  const deploys = await fetchNewest<Deploy>(client, path, limit)
  printList(out, deploys, `${service} was never deployed`, [
    { heading: 'DEPLOY', text: ({ id }) => id },
    { heading: 'STATUS', text: ({ status }) => status, style: deployStyle },
    { heading: 'BEGAN', text: ({ created_at }) => age(created_at) },
    { heading: 'TOOK', text: durationOf, isRight: true },
    { heading: 'BY', text: ({ by }) => requesterName(by) },
    { heading: 'WHAT', text: (one) => one.error ?? originOf(one), isFlexible: true },
  ])
}

async function cancel(cli: Cli, deployOrName: string): Promise<void> {
  if (deployOrName.startsWith('job-')) return cancelRun(cli, deployOrName)
  const id = deployOrName.startsWith('dep-') ? deployOrName : await activeDeploy(cli, deployOrName)
  const deploy = await cli.client.call<Deploy>('POST', `${deployPath(id)}/cancel`)
  if (cli.out.isJson) cli.out.json(deploy)
  else printDone(cli, `${id} is canceled${deploy.phase ? ` while ${deploy.phase}` : ''}`)
}

async function cancelRun(cli: Cli, id: string): Promise<void> {
  const run = await cli.client.call<JobRun>('POST', `${jobPath(id)}/cancel`)
  if (cli.out.isJson) return cli.out.json(run)
  const grace = run.started_at === null ? '' : '; it has ten seconds to exit'
  printDone(cli, `${id} is canceled${grace}`)
}

/** The running deploy, otherwise the oldest queued deploy. Throws CliFailure if no deploy can be canceled. */
async function activeDeploy({ client }: Cli, name: string): Promise<string> {
  const deploys = await client.call<Deploy[]>('GET', `${servicePath(name)}/deploys`)
  const active = deploys.filter(({ status }) => status === 'running' || status === 'queued')
  const current = active.find(({ status }) => status === 'running') ?? active.at(-1)
  if (current) return current.id
  throw new CliFailure(`no deploy of ${name} is queued or running`, {
    hint: `berth deploys ${name}; job runs are canceled by id: berth jobs ${name}`,
  })
}

const maxDeploysSearched = 50

export function addRollbackCommands(program: BerthCommand): void {
  program
    .command('rollback')
    .argument('[name]', 'the service')
    .argument('[deploy]', 'the deploy; without it you choose')
    .description('go back to an earlier deploy; berth diff NAME DEPLOY shows what that changes')
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
  if (!cli.out.isJson) await sayPause(cli, path)
  return followUp(cli, deploy, follow)
}

async function sayPause({ client, out }: Cli, path: string): Promise<void> {
  const { name, auto_deploys } = await client.call<Service>('GET', path)
  const resume = `berth update ${name} --auto-deploy on`
  if (auto_deploys.status === 'paused') out.say(`   automatic deploys are paused; ${resume} resumes them`)
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
