// Git connections: started in a browser or with a token, listed, deleted, and read through.
import { z } from 'zod'
import type { By, RecordOf } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import {
  AuthorizeGit,
  CompleteGit,
  ConnectGit,
  DeleteGitConnectionQuery,
  GitBranches,
  GitBranchesQuery,
  GitConnection,
  GitConnectionParams,
  GitRedirect,
  GitRepositories,
  UpdateGit,
} from '../../api/git-connection.ts'
import type { AuthorizationStep } from '../../effects/git-connection/authorization.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, del, get, patch, post, tagged, WithHeaders } from '../pipeline/route.ts'
import { command, requesterOf } from '../records/requester.ts'
import { finder, shownFields } from '../records/stored-record.ts'
import { recordRoutes } from './record-routes.ts'

/** More connections than a server ever has. */
const maxConnections = 500
const findGitConnection = finder<'git-connection'>('git', 'git connection', 'berth git ls lists them')
const providerProblems = ['git_authorization_rejected', 'git_provider_unavailable']

export const gitConnectionRoutes = tagged('Git', [
  post('/git/authorize', {
    summary: 'Starts or resumes the authorization of an account in the browser',
    description:
      'GitHub: the browser posts a manifest, from which GitHub registers a private app for this server; ' +
      'then it is installed. GitLab and Gitea: the browser opens the page that authorizes the OAuth ' +
      'application of this server. `connected` means that nothing is left to do.',
    body: AuthorizeGit,
    acceptsIdempotencyKey: false,
    problems: ['git_application_required', 'not_found', 'conflict', ...providerProblems],
    response: GitRedirect,
    handler: authorizeGit,
  }),
  post('/git/callback', {
    summary: 'Continues an authorization with what the provider sent the browser back with',
    description:
      'A `state` works once, for an hour. With `installation_id` and no `state`, the connection of that ' +
      'installation is read again.',
    body: CompleteGit,
    acceptsIdempotencyKey: false,
    problems: ['not_found', 'conflict', ...providerProblems],
    response: GitRedirect,
    handler: completeGit,
  }),
  get('/git/connections', {
    role: 'read',
    summary: 'Lists the git connections, newest first',
    response: z.array(GitConnection),
    handler({ context }) {
      const records = context.storage.actors.list('git-connection', '', maxConnections)
      const kept = records.filter(({ status }) => status !== 'deleted')
      return kept.map((record) => toGitConnection(context, record))
    },
  }),
  post('/git/connections', {
    summary: 'Connects an account with a personal access token, or replaces the token of a connected account',
    body: ConnectGit,
    problems: ['not_found', ...providerProblems],
    replay: readGitConnection,
    status: 201,
    otherStatuses: { 200: 'The account was connected already; its authorization was replaced.' },
    response: GitConnection,
    handler: connectGit,
  }),
  patch('/git/connections/{id}', {
    summary: 'Changes whether a git connection reports deploys to its provider',
    params: GitConnectionParams,
    body: UpdateGit,
    response: GitConnection,
    handler: updateGitConnection,
  }),
  del('/git/connections/{id}', {
    summary: 'Deletes a git connection and its secrets; what the account authorized stays at the provider',
    params: GitConnectionParams,
    query: DeleteGitConnectionQuery,
    problems: ['in_use'],
    handler: deleteGitConnection,
  }),
  ...recordRoutes('/git/connections/{id}', {
    noun: 'a git connection',
    params: GitConnectionParams,
    find: findGitConnection,
    show: { response: GitConnection, read: readGitConnection },
  }),
  get('/git/connections/{id}/repositories', {
    summary: 'Lists the repositories that a git connection may read, last updated first',
    params: GitConnectionParams,
    problems: providerProblems,
    response: GitRepositories,
    handler: listGitRepositories,
  }),
  get('/git/branches', {
    summary: 'Lists the branches of a repository, read as a deploy would clone it',
    query: GitBranchesQuery,
    problems: ['git_remote_unreachable'],
    response: GitBranches,
    async handler({ context, query }) {
      const { branches, connectionId, defaultBranch } = await context.git.branches(query.repo_url)
      return { branches, connection_id: connectionId, default_branch: defaultBranch }
    },
  }),
])

export async function authorizeGit(call: Call<unknown, unknown, AuthorizeGit>): Promise<GitRedirect> {
  const { context, body } = call
  const step = await context.git.authorize({
    provider: body.provider ?? null,
    baseUrl: body.base_url ?? null,
    organization: body.organization || null,
    clientId: body.client_id ?? null,
    clientSecret: body.client_secret ?? null,
    connectionId: body.connection_id ?? null,
    redirectUri: body.redirect_uri,
    reportDeploys: body.report_deploys ?? null,
    by: requesterOf(call),
  })
  return toRedirect(context, step)
}

export async function completeGit({
  context,
  body,
}: Call<unknown, unknown, CompleteGit>): Promise<GitRedirect> {
  const step = await context.git.completeAuthorization({
    state: body.state || null,
    code: body.code || null,
    installationId: body.installation_id,
    setupAction: body.setup_action || null,
    error: body.error || null,
    errorDescription: body.error_description || null,
  })
  return toRedirect(context, step)
}

function readGitConnection(context: HttpContext, id: string): GitConnection {
  return toGitConnection(context, findGitConnection(context.storage, id))
}

function toGitConnection(context: HttpContext, record: RecordOf<'git-connection'>): GitConnection {
  return shownFields(GitConnection, record, { services: namesOf(servicesOf(context, record.id)) })
}

function servicesOf({ storage, git }: HttpContext, id: string): ServiceRow[] {
  return storage.services.list().filter((service) => git.servingId(service) === id)
}

function namesOf(services: ServiceRow[]): string[] {
  return services.map(({ name }) => name)
}

function toRedirect(context: HttpContext, { connectionId, redirect }: AuthorizationStep): GitRedirect {
  const connection = readGitConnection(context, connectionId)
  if (redirect === null) return { status: 'connected', method: null, url: null, fields: {}, connection }
  const { method, url } = redirect
  return {
    status: 'redirect',
    method,
    url,
    fields: redirect.method === 'post' ? redirect.fields : {},
    connection,
  }
}

/** 201 for a new connection, 200 for a new token of a known account. */
async function connectGit(call: Call<unknown, unknown, ConnectGit>) {
  const { context, body, eventId } = call
  const { provider, token, base_url: baseUrl = null, report_deploys: reportDeploys = null } = body
  const by: By = requesterOf(call)
  const request = { provider, token, baseUrl, reportDeploys, by, eventId }
  const { id, isNew } = await context.git.connectToken(request)
  const connection = readGitConnection(context, id)
  return isNew ? connection : new WithHeaders(connection, [], 200)
}

async function updateGitConnection(call: CallById<unknown, UpdateGit>): Promise<GitConnection> {
  const { context, params, body } = call
  const { id } = findGitConnection(context.storage, params.id)
  const { report_deploys: reportDeploys } = body
  if (reportDeploys !== undefined)
    await context.actors.send(id, command(call, 'reports.set', { reportDeploys }))
  return readGitConnection(context, id)
}

async function deleteGitConnection(call: CallById<DeleteGitConnectionQuery>): Promise<undefined> {
  const { context, params, query } = call
  const connection = findGitConnection(context.storage, params.id)
  const services = servicesOf(context, connection.id)
  if (services.length > 0 && !query.force) throw inUse(connection.id, namesOf(services))
  // Another connection of the host must not take over.
  for (const { id } of services)
    await context.storage.services.update(id, (row) => ({ ...row, use_git_connection: false }))
  if (connection.status === ('failed' as string))
    await context.actors.spawn('git-connection', connection.id, {})
  await context.actors.send(connection.id, command(call, 'delete'))
}

function inUse(id: string, services: string[]): Failure {
  const details = services.map((name) => ({
    path: name,
    code: 'repository',
    message: 'its repository is cloned with this connection',
  }))
  const text = `the repositories of ${services.join(', ')} are cloned with this connection`
  const hint = `berth git rm ${id} --force deletes it anyway; private repositories can then not be cloned`
  return new Failure('in_use', text, hint, details)
}

async function listGitRepositories({ context, params }: CallById): Promise<GitRepositories> {
  const { id } = findGitConnection(context.storage, params.id)
  const { repositories, isTruncated } = await context.git.repositories(id)
  return {
    repositories: repositories.map((repository) => ({
      id: repository.id,
      name: repository.name,
      full_name: repository.fullName,
      owner: repository.owner,
      description: repository.description,
      private: repository.isPrivate,
      archived: repository.isArchived,
      default_branch: repository.defaultBranch,
      clone_url: repository.cloneUrl,
      web_url: repository.webUrl,
      updated_at: repository.updatedAt,
    })),
    truncated: isTruncated,
  }
}
