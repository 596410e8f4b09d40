// Git connections: started in a browser or with a token, listed, deleted, and read through.
import type { By } from '../../../storage/actors/actors.ts'
import type {
  AuthorizeGit,
  CompleteGit,
  ConnectGit,
  DeleteGitConnectionQuery,
  GitBranches,
  GitBranchesQuery,
  GitConnection,
  GitRedirect,
  GitRepositories,
} from '../../api/git-connection.ts'
import type { AuthorizationStep } from '../../effects/git-connection/authorization.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, WithHeaders } from '../pipeline/route.ts'
import {
  findGitConnection,
  listGitConnectionRecords,
  readGitConnection,
  servicesOf,
  toGitConnection,
} from '../records/git-connection-record.ts'
import { command, requesterOf } from '../records/requester.ts'

export function listGitConnections({ context }: Call): GitConnection[] {
  return listGitConnectionRecords(context.storage).map((record) => toGitConnection(context, record))
}

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
export async function connectGit(call: Call<unknown, unknown, ConnectGit>) {
  const { context, body, eventId } = call
  const { provider, token, base_url: baseUrl = null } = body
  const by: By = requesterOf(call)
  const { id, isNew } = await context.git.connectToken({ provider, token, baseUrl, by, eventId })
  const connection = readGitConnection(context, id)
  return isNew ? connection : new WithHeaders(connection, [], 200)
}

export async function deleteGitConnection(call: CallById<DeleteGitConnectionQuery>): Promise<undefined> {
  const { context, params, query } = call
  const connection = findGitConnection(context.storage, params.id)
  const services = query.force ? [] : servicesOf(context, connection.id)
  if (services.length > 0) throw inUse(connection.id, services)
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

export async function listGitRepositories({ context, params }: CallById): Promise<GitRepositories> {
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

export async function listGitBranches({
  context,
  query,
}: Call<unknown, GitBranchesQuery>): Promise<GitBranches> {
  const { branches, connectionId, defaultBranch } = await context.git.branches(query.repo_url)
  return { branches, connection_id: connectionId, default_branch: defaultBranch }
}
