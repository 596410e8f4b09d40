// Accounts at git providers that the server may read.
import type { GitBranches, GitConnection, GitRepositories } from '../../../api/git-connection.ts'
import { sleep } from '../../../async/sleep.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure, usageFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { onOrOff } from '../../service/setting-flags.ts'
import { age } from '../../terminal/ages.ts'
import { openInBrowser } from '../../terminal/browser.ts'
import { plain } from '../../terminal/output.ts'
import { askSecret } from '../../terminal/prompts.ts'
import { readStandardInput } from '../../terminal/standard-input.ts'
import { printTable } from '../../terminal/table.ts'
import { addDeliveryCommands, showGitHook } from '../hooks.ts'

const providers = ['github', 'gitlab', 'gitea']
const accountArgument = 'its account or its id; not needed if there is only one'

export function addGitCommands(program: BerthCommand): void {
  const git = program
    .command('git')
    .description('list connected accounts of GitHub, GitLab and Gitea')
    .examples('berth git', 'berth git connect github')
    .lists(list)
  addConnect(git)
  git
    .command('repos')
    .argument('[account]', accountArgument)
    .description('list the repositories of an account, last updated first')
    .examples('berth git repos', 'berth git repos ada --json')
    .runs(listRepositories)
  git
    .command('branches')
    .argument('<repository>', 'its address')
    .description('list the branches of a repository, the default branch first')
    .examples(
      'berth git branches https://github.com/ada/shop.git',
      'berth git branches git@github.com:ada/shop.git',
    )
    .runs(listBranches)
  git
    .command('hook')
    .argument('[account]', accountArgument)
    .description('show the webhook that reports pushes to the repositories of an account')
    .examples('berth git hook', 'berth git hook ada --json')
    .runs(async (cli, account: string | undefined) => showGitHook(cli, await findConnection(cli, account)))
  addDeliveryCommands(git)
  git
    .command('update')
    .argument('[account]', accountArgument)
    .description('change what a connection does')
    .requiredOption('--report-deploys <on|off>', 'report deploys as statuses of their commits', onOrOff)
    .examples('berth git update --report-deploys on', 'berth git update ada --report-deploys off')
    .runs(update)
  git
    .command('rm')
    .argument('[account]', accountArgument)
    .description('delete a connection and its secrets')
    .option('--force', 'even if services are cloned with it')
    .examples('berth git rm ada', 'berth git rm git-01jexample --force')
    .runs(remove)
}

function addConnect(git: BerthCommand): void {
  git
    .command('connect')
    .argument('[provider]', providers.join(', '))
    .description('connect an account, in the browser or with an access token')
    .option('--with-token', 'with an access token, from a prompt or a pipe')
    .option('--base-url <url>', 'the address of your own server')
    .option('--organization <name>', 'GitHub: the organization that will own the app')
    .option('--report-deploys', 'report deploys as statuses of their commits')
    .option('--resume <id>', 'continue a pending connection, or authorize one again')
    .option('--no-browser', 'only print the page to open')
    .examples(
      'berth git connect github',
      'berth git connect gitlab --base-url https://gitlab.example.com',
      'pass show gitea | berth git connect gitea --with-token --base-url https://git.example.com',
    )
    .runs(connect)
}

interface ConnectOptions {
  withToken?: boolean
  baseUrl?: string
  organization?: string
  reportDeploys?: boolean
  resume?: string
  browser: boolean
}

async function connect(cli: Cli, provider: string | undefined, options: ConnectOptions): Promise<void> {
  if (provider !== undefined && !providers.includes(provider)) {
    throw usageFailure(`'${provider}' is not a supported provider`, providers.join(', '))
  }
  if (provider === undefined && options.withToken) {
    throw usageFailure('a token needs a provider', 'berth git connect github --with-token')
  }
  const connection = options.withToken
    ? await connectToken(cli, provider!, options)
    : await connectInBrowser(cli, { provider, ...options })
  if (cli.out.isJson) return cli.out.json(connection)
  printDone(cli, `${connection.account} at ${connection.base_url} is connected`)
  printNext(cli, `berth git repos ${connection.account}`)
}

async function connectToken(
  cli: Cli,
  provider: string,
  { baseUrl, reportDeploys }: ConnectOptions,
): Promise<GitConnection> {
  const question = { message: `Access token for ${baseUrl ?? provider}:`, instead: 'pipe the token in' }
  const token = cli.stdin.isTTY ? await askSecret(cli, question) : await readStandardInput(cli, 'the token')
  const body = {
    provider,
    token,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(reportDeploys && { report_deploys: true }),
  }
  return cli.client.call<GitConnection>('POST', '/git/connections', { body })
}

async function list({ client, out }: Cli): Promise<void> {
  const connections = await client.call<GitConnection[]>('GET', '/git/connections')
  if (out.isJson) return out.json(connections)
  if (connections.length === 0) return out.say('no accounts yet: berth git connect github')
  printTable(out, connections, [
    { heading: 'ID', text: ({ id }) => id, style: () => 'bold' },
    { heading: 'ACCOUNT', text: ({ account }) => account ?? '' },
    { heading: 'AT', text: ({ base_url }) => base_url, isFlexible: true },
    { heading: 'STATUS', text: statusText, style: statusStyle },
    { heading: 'SERVICES', text: ({ services }) => services.join(', ') },
    {
      heading: 'AUTHORIZED',
      text: ({ status, updated_at }) => (status === 'pending' ? '' : age(updated_at)),
    },
  ])
  for (const { id } of connections.filter(({ status, auth }) => status !== 'connected' && auth !== 'token'))
    printNext({ out } as Cli, `berth git connect --resume ${id}`)
}

function statusText({ status, phase, invalid_reason }: GitConnection): string {
  if (status === 'invalid') return invalid_reason ?? status
  return status === 'pending' && phase !== null ? phase : status
}

function statusStyle({ status }: GitConnection) {
  if (status === 'connected') return 'green' as const
  return status === 'pending' ? ('yellow' as const) : ('red' as const)
}

async function listRepositories(cli: Cli, account: string | undefined): Promise<void> {
  const { id } = await findConnection(cli, account)
  const path = `/git/connections/${encodeURIComponent(id)}/repositories`
  const { repositories, truncated } = await cli.client.call<GitRepositories>('GET', path)
  const { out } = cli
  if (out.isJson) return out.json({ repositories, truncated })
  if (repositories.length === 0) return out.say('this account has no repositories')
  printTable(out, repositories, [
    { heading: 'REPOSITORY', text: ({ full_name }) => full_name, style: () => 'bold' },
    { heading: 'UPDATED', text: ({ updated_at }) => (updated_at === null ? '' : age(updated_at)) },
    { heading: '', text: (one) => (one.archived ? 'archived' : one.private ? 'private' : '') },
    { heading: 'ADDRESS', text: ({ clone_url }) => clone_url, isFlexible: true },
  ])
  if (truncated) out.say('more repositories exist; these were updated last')
}

async function listBranches({ client, out }: Cli, repository: string): Promise<void> {
  const path = `/git/branches?repo_url=${encodeURIComponent(repository)}`
  const found = await client.call<GitBranches>('GET', path)
  if (out.isJson) return out.json(found)
  if (found.branches.length === 0) return out.say('the repository has no branches')
  for (const branch of found.branches) out.print(plain(branch))
}

interface UpdateOptions {
  reportDeploys: boolean
}

async function update(cli: Cli, account: string | undefined, { reportDeploys }: UpdateOptions) {
  const { id } = await findConnection(cli, account)
  const path = `/git/connections/${encodeURIComponent(id)}`
  const connection = await cli.client.call<GitConnection>('PATCH', path, {
    body: { report_deploys: reportDeploys },
  })
  if (cli.out.isJson) return cli.out.json(connection)
  const what = connection.report_deploys ? 'are reported' : 'are not reported'
  printDone(cli, `deploys of the repositories of ${connection.account ?? id} ${what}`)
}

async function remove(cli: Cli, account: string | undefined, { force }: { force?: boolean }): Promise<void> {
  const connection = await findConnection(cli, account)
  const query = force ? '?force=true' : ''
  await cli.client.call('DELETE', `/git/connections/${encodeURIComponent(connection.id)}${query}`)
  printDone(cli, `the connection of ${connection.account ?? connection.id} is deleted`)
  const page = connection.manage_url ?? connection.app_url
  if (page) cli.out.say(`   its app stays at the provider: ${plain(page)}`)
}

/** By id or account; the only one by default. */
async function findConnection({ client }: Cli, account: string | undefined): Promise<GitConnection> {
  const connections = await client.call<GitConnection[]>('GET', '/git/connections')
  const isNamed = (one: GitConnection) =>
    account === undefined || one.id === account || one.account?.toLowerCase() === account.toLowerCase()
  const found = connections.filter(isNamed)
  if (found.length === 1) return found[0]!
  const hint = connections.length === 0 ? 'berth git connect github' : 'berth git ls lists them'
  if (found.length === 0) throw new CliFailure('there is no such git connection', { hint })
  const text = account === undefined ? 'which account?' : `several connections have the account ${account}`
  throw usageFailure(text, `name one of these ids: ${found.map(({ id }) => id).join(', ')}`)
}

interface BrowserRequest {
  provider: string | undefined
  baseUrl?: string
  organization?: string
  reportDeploys?: boolean
  resume?: string
  browser: boolean
}

const pollMs = 2000
/** A state of the server works for an hour. */
const waitMs = 60 * 60 * 1000

async function connectInBrowser(cli: Cli, request: BrowserRequest): Promise<GitConnection> {
  const { out, client } = cli
  const before = await client.call<GitConnection[]>('GET', '/git/connections')
  const page = startPage(cli.server.url, request)
  out.say(' To connect the account, open this page:')
  out.say()
  out.say(`   ${out.tint('underline', plain(page))}`)
  out.say()
  if (request.browser) await openInBrowser(cli, page)
  out.animate((spinner) => [` ${out.tint('cyan', spinner)} waiting for the authorization`])
  try {
    return await waitForConnection(cli, before)
  } finally {
    out.rest()
  }
}

function startPage(serverUrl: string, request: BrowserRequest): string {
  const { provider, baseUrl, organization, resume, reportDeploys } = request
  const report_deploys = reportDeploys ? 'true' : undefined
  const fields = { provider, base_url: baseUrl, organization, connection_id: resume, report_deploys }
  const specified = Object.entries(fields).filter(
    (field): field is [string, string] => field[1] !== undefined,
  )
  const query = specified.length === 0 ? '' : `?${new URLSearchParams(specified)}`
  return `${serverUrl}/git/start${query}`
}

/** Any connection that was authorized since then: the account is chosen in the browser. */
async function waitForConnection({ client, signal }: Cli, before: GitConnection[]): Promise<GitConnection> {
  const earlierStates = new Map(before.map(({ id, status, updated_at }) => [id, `${status} ${updated_at}`]))
  for (const endsAt = Date.now() + waitMs; Date.now() < endsAt; ) {
    const now = await client.call<GitConnection[]>('GET', '/git/connections')
    const isNew = ({ id, status, updated_at }: GitConnection) =>
      status === 'connected' && earlierStates.get(id) !== `${status} ${updated_at}`
    const connected = now.find(isNew)
    if (connected) return connected
    await sleep(pollMs, signal)
  }
  throw new CliFailure('the account was not connected in time', { hint: 'berth git ls shows its state' })
}
