// Accounts at git providers.
import { z } from 'zod'
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
} from '../../api/git-connection.ts'
import * as git from '../handlers/git-connections.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'
import { findGitConnection, readGitConnection } from '../records/git-connection-record.ts'
import { historyRoute, show } from './record-routes.ts'

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
    handler: git.authorizeGit,
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
    handler: git.completeGit,
  }),
  get('/git/connections', {
    role: 'read',
    summary: 'Lists the git connections, newest first',
    response: z.array(GitConnection),
    handler: git.listGitConnections,
  }),
  post('/git/connections', {
    summary: 'Connects an account with a personal access token, or replaces the token of a connected account',
    body: ConnectGit,
    problems: ['not_found', ...providerProblems],
    replay: readGitConnection,
    status: 201,
    otherStatuses: { 200: 'The account was connected already; its authorization was replaced.' },
    response: GitConnection,
    handler: git.connectGit,
  }),
  get('/git/connections/{id}', {
    role: 'read',
    summary: 'Returns a git connection',
    params: GitConnectionParams,
    response: GitConnection,
    handler: show(readGitConnection),
  }),
  del('/git/connections/{id}', {
    summary: 'Deletes a git connection and its secrets; what the account authorized stays at the provider',
    params: GitConnectionParams,
    query: DeleteGitConnectionQuery,
    problems: ['in_use'],
    handler: git.deleteGitConnection,
  }),
  historyRoute('/git/connections/{id}', {
    params: GitConnectionParams,
    summary: 'Lists the transitions of a git connection: the first 10 and the last 500',
    find: findGitConnection,
  }),
  get('/git/connections/{id}/repositories', {
    summary: 'Lists the repositories that a git connection may read, last updated first',
    params: GitConnectionParams,
    problems: providerProblems,
    response: GitRepositories,
    handler: git.listGitRepositories,
  }),
  get('/git/branches', {
    summary: 'Lists the branches of a repository, read as a deploy would clone it',
    query: GitBranchesQuery,
    problems: ['git_remote_unreachable'],
    response: GitBranches,
    handler: git.listGitBranches,
  }),
])
