// Accounts at git providers that the server may read. Secrets are accepted and never returned.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { createdAt, flag, id, identifier, name, recorded, text, time, timestamp } from './parts/fields.ts'

const provider = z.enum(['github', 'gitlab', 'gitea'])
const baseUrl = z
  .string()
  .max(2048)
  .nullish()
  .describe(
    'Address of a self-hosted instance; required for gitea. A host alone means https. Loopback addresses ' +
      'need --local-git-host.',
  )
const reportDeploys = z
  .boolean()
  .nullish()
  .describe(
    'Whether deploys are reported as statuses of their commits; by default not. An app, and a token of an ' +
      'application, is then asked for the right to do that.',
  )
const secretText = (description: string) => z.string().trim().min(1).max(1024).nullish().describe(description)

const redirectUri = z
  .string()
  .max(2048)
  .refine(isPlainWebAddress, {
    error: 'must be an http or https URL without credentials, query and fragment',
  })
  .describe("Where the provider sends the browser back: /git/callback at the origin of the server's pages.")

function isPlainWebAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[?#]/.test(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

export const GitConnectionParams = z.object({ id: identifier.describe('Id of the git connection.') })

export const DeleteGitConnectionQuery = z.strictObject({
  force: flag(
    'Deletes the connection even if services use it. Their repositories are then cloned without credentials.',
  ),
})
export type DeleteGitConnectionQuery = z.output<typeof DeleteGitConnectionQuery>

export const GitConnection = z
  .object({
    id,
    provider: provider.describe('The provider; `gitea` for Forgejo too.'),
    auth: z
      .enum(['github_app', 'oauth', 'token'])
      .describe(
        '`github_app`: an app that GitHub registered for this server. `oauth`: an OAuth application. ' +
          '`token`: a personal access token.',
      ),
    status: z
      .enum(['pending', 'connected', 'invalid', 'failed'])
      .describe(
        '`pending`: started in the browser and not finished. `connected`: usable. `invalid`: no longer ' +
          'accepted by the provider, see `invalid_reason`. `failed`: parked after an internal error.',
      ),
    phase: z
      .enum(['registering', 'installing', 'authorizing', 'exchanging', 'renewing'])
      .nullable()
      .describe(
        'The next step of a pending connection: `registering` or `installing` its app, or `authorizing` ' +
          'its application. `exchanging` and `renewing`: a request to the provider is in progress.',
      ),
    invalid_reason: z
      .enum(['expired', 'revoked', 'uninstalled', 'suspended'])
      .nullable()
      .describe('Why the authorization is no longer valid; null if it is.'),
    error: text.describe('Why the last authorization or renewal failed; null if it succeeded.'),
    error_code: failure.error_code,
    account: text.describe('The account; null until it is known.'),
    account_name: text.describe('The display name of the account.'),
    app_slug: text.describe('Name of the app in addresses; null without an app.'),
    app_url: text.describe('Page of the app; null without an app.'),
    manage_url: text.describe(
      'Where the account chooses the repositories of the app; null before its installation.',
    ),
    base_url: z.string().describe('Address of the instance.'),
    client_id: text.describe('Client id of the app or the application; null for a token.'),
    repository_selection: z
      .enum(['all', 'selected'])
      .nullable()
      .describe('Which repositories the app may read; null without an app.'),
    scopes: z.array(z.string()).describe('Scopes of the token, if the provider reports them.'),
    services: z
      .array(z.string())
      .describe('Names of the services whose repository is cloned with this connection.'),
    token_expires_at: time.describe(
      'When a personal access token expires; null if it does not or the provider does not report it.',
    ),
    token_hint: text.describe('The end of a personal access token; null for other authorizations.'),
    report_deploys: z
      .boolean()
      .describe('Whether deploys of its repositories are reported as statuses of their commits.'),
    created_at: createdAt,
    updated_at: timestamp.describe('When it was last authorized.'),
    ...recorded,
  })
  .meta({ id: 'GitConnection', description: 'An account at a git provider.' })
export type GitConnection = z.output<typeof GitConnection>

export const AuthorizeGit = z
  .strictObject({
    provider: provider.nullish().describe('The provider; not needed with `connection_id`.'),
    base_url: baseUrl,
    organization: z
      .string()
      .max(39)
      .nullish()
      .describe('GitHub only: the organization that will own the app. By default the user owns it.'),
    client_id: secretText('GitLab and Gitea: client id of the OAuth application. It is kept for later.'),
    client_secret: secretText('The secret of the OAuth application. It is stored encrypted.'),
    connection_id: identifier
      .nullish()
      .describe('Resumes a pending connection, or authorizes a connection again.'),
    redirect_uri: redirectUri,
    report_deploys: reportDeploys,
  })
  .meta({ id: 'AuthorizeGit', description: 'The start of an authorization in the browser.' })
export type AuthorizeGit = z.output<typeof AuthorizeGit>

const installationId = z
  .union([z.string().regex(/^\d{0,15}$/, { error: 'must be digits' }), z.int().positive()])
  .nullish()
  .transform((value) => (value ? Number(value) : null))
  .describe('Id of the installation of a GitHub App, as text or as a number.')
const parameter = (description: string) => z.string().max(4096).nullish().describe(description)

export const CompleteGit = z
  .strictObject({
    state: parameter('The `state`; it works once, for an hour. Empty or missing counts as none.'),
    code: parameter('The `code`.'),
    installation_id: installationId,
    setup_action: parameter('`install`, `update` or `request`.'),
    error: parameter('The `error`, if the provider or the user refused.'),
    error_description: parameter('The `error_description`.'),
  })
  .meta({
    id: 'CompleteGit',
    description: 'The query parameters with which the provider sent the browser back.',
  })
export type CompleteGit = z.output<typeof CompleteGit>

export const GitRedirect = z
  .object({
    status: z
      .enum(['redirect', 'connected'])
      .describe('`redirect`: the browser continues at `url`. `connected`: nothing is left to do.'),
    method: z
      .enum(['get', 'post'])
      .nullable()
      .describe('`get`: open the URL. `post`: submit a form to it. Null when connected.'),
    url: text.describe('Where the browser continues; null when connected.'),
    fields: z.record(z.string(), z.string()).describe('The fields of the form.'),
    connection: GitConnection.describe('The connection, pending or connected.'),
  })
  .meta({ id: 'GitRedirect', description: 'The next step of an authorization.' })
export type GitRedirect = z.output<typeof GitRedirect>

export const ConnectGit = z
  .strictObject({
    provider: provider.describe('The provider; `gitea` for Forgejo too.'),
    token: z
      .string()
      .trim()
      .min(1)
      .max(1024)
      .regex(/^[\x21-\x7e]+$/, { error: 'must be printable characters without blanks' })
      .describe(
        'A personal access token. GitHub: the scope `repo`, or read access to Contents and Metadata. ' +
          'GitLab: `read_api` and `read_repository`. Gitea: read access to repositories and the user.',
      ),
    base_url: baseUrl,
    report_deploys: reportDeploys,
  })
  .meta({ id: 'ConnectGit', description: 'A personal access token of an account.' })
export type ConnectGit = z.output<typeof ConnectGit>

export const UpdateGit = z
  .strictObject({
    report_deploys: z
      .boolean()
      .optional()
      .describe('Whether deploys are reported from now on. The rights of the connection stay as they are.'),
  })
  .meta({ id: 'UpdateGit', description: 'Changes to a git connection.' })
export type UpdateGit = z.output<typeof UpdateGit>

const GitRepository = z
  .object({
    id,
    name,
    full_name: z.string().describe('With the owner.'),
    owner: z.string().describe('The account, organization or group.'),
    description: text.describe('The description; null without one.'),
    private: z.boolean().describe('True for everything that is not public.'),
    archived: z.boolean().describe('Whether it is read-only.'),
    default_branch: text.describe('The default branch; null without commits.'),
    clone_url: z.string().describe('The `repo_url` for a service.'),
    web_url: z.string().describe('Its page.'),
    updated_at: time.describe('The last push or activity; null if unknown.'),
  })
  .meta({ id: 'GitRepository', description: 'A repository that a connection may read.' })

export const GitRepositories = z
  .object({
    repositories: z.array(GitRepository).describe('At most 1000.'),
    truncated: z.boolean().describe('Whether there are more.'),
  })
  .meta({ id: 'GitRepositories', description: 'The repositories of a connection, last updated first.' })
export type GitRepositories = z.output<typeof GitRepositories>

export const GitBranchesQuery = z.strictObject({
  repo_url: z.string().min(1).max(2048).describe('The repository, as in a service.'),
})
export type GitBranchesQuery = z.output<typeof GitBranchesQuery>

export const GitBranches = z
  .object({
    branches: z.array(z.string()).describe('The default branch first, the others by name.'),
    connection_id: text.describe('The connection whose token was used; null if none was.'),
    default_branch: text.describe('The default branch; null for an empty repository.'),
  })
  .meta({ id: 'GitBranches', description: 'The branches of a repository.' })
export type GitBranches = z.output<typeof GitBranches>
