// The pages of automatic deploys and of git accounts, with what a server says that has both.
import type { AutoDeploys } from '../../../src/api/auto-deploys.ts'
import type { DeployKey } from '../../../src/api/deploy-key.ts'
import type { GitConnection } from '../../../src/api/git-connection.ts'
import type { Delivery, GitHook } from '../../../src/api/hook.ts'
import type { Service } from '../../../src/api/service.ts'
import { hostile } from './hostile-texts.ts'
import type { Stage } from './stage.ts'
import type { Answers, StagedPage } from './visit.ts'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const head = '4f9c1e7a0b2d3c5e6f708192a3b4c5d6e7f80910'
const deployId = 'dep-01kb0000000000000000007q3f'

const watching: AutoDeploys = {
  status: 'watching',
  reason: null,
  since: null,
  paused_by: null,
  undecided: false,
  decision: { head, at: ago(2), deploy_id: deployId, reason: 'it changes services/api/main.ts' },
  actor_id: 'aut-1',
}

const paused: Partial<AutoDeploys> = {
  status: 'paused',
  reason: `${deployId} rolled shop back; berth update shop --auto-deploy on resumes it`,
  paused_by: deployId,
}

const failing: Partial<AutoDeploys> = {
  status: 'failing',
  reason: `cannot read https://github.com/ada/shop.git: ${hostile.error}`,
  since: ago(125),
  decision: { head, at: ago(300), deploy_id: null, reason: 'its message asks for no deploy' },
}

const outcomes: Partial<Delivery>[] = [
  { decided_at: null, reason: null },
  { deploy_id: deployId, reason: 'it changes services/api/main.ts' },
  { reason: 'none of the 14 files that it changes is watched' },
  { reason: `${deployId} has this version`, ref: `refs/heads/${'long-'.repeat(20)}branch` },
  { after: '0'.repeat(40), reason: 'berth update shop --auto-deploy on deploys each push' },
  { reason: `cannot read the repository: ${hostile.error}`, ref: `refs/heads/${hostile.command}` },
]

const deliveries = outcomes.map((outcome, index) => ({
  id: `dlv-${index}`,
  provider: 'github',
  connection_id: 'git-1',
  delivery_id: `d-${index}`,
  event: 'push',
  repository: 'github.com/ada/shop',
  ref: 'refs/heads/main',
  before: head,
  after: head,
  received_at: ago(2 + index * 40),
  decided_at: ago(2 + index * 40),
  deploy_id: null,
  ...outcome,
}))

const unknown = { error: null, error_code: null, error_details: null, hint: null }
const account = {
  ...unknown,
  id: 'git-1',
  provider: 'github',
  auth: 'token',
  status: 'connected',
  phase: null,
  invalid_reason: null,
  account: 'ada',
  account_name: 'Ada',
  app_slug: null,
  app_url: null,
  manage_url: null,
  base_url: 'https://github.com',
  client_id: null,
  repository_selection: null,
  scopes: ['repo'],
  services: ['shop', 'api'],
  token_expires_at: null,
  token_hint: '…7q3f',
  created_at: ago(9000),
  updated_at: ago(9000),
  revision: 1,
} as unknown as GitConnection

const accounts: Partial<GitConnection>[] = [
  {},
  {
    id: 'git-2',
    provider: 'gitea',
    auth: 'oauth',
    account: 'grace',
    base_url: 'https://git.example.com',
    status: 'invalid',
    invalid_reason: 'revoked',
    error: hostile.error,
    services: [],
  },
  { id: 'git-3', auth: 'github_app', account: null, status: 'pending', phase: 'installing', services: [] },
]

const hook: GitHook = {
  url: 'https://berth.example.com/api/v1/hooks/github?connection=git-1',
  secret: 'bthk_an-example-of-a-secret-that-is-43-characters-l',
  content_type: 'application/json',
  events: ['Pushes'],
  check_events: ['Check suites', 'Statuses'],
  registered: false,
}

const fingerprintOf = (text: string) => `SHA256:${text.repeat(43).slice(0, 43)}`

const deployKey: DeployKey = {
  public_key: `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'Mj4xQ7bd'.repeat(5)}Zk0 berth-shop`,
  fingerprint: fingerprintOf('p4Xw/9zR'),
  created_at: ago(4000),
  hosts: [],
}

const pinned = ['ssh-ed25519', 'ecdsa-sha2-nistp256'].map((type) => ({
  host: '[git.example.com]:2222',
  type,
  fingerprint: fingerprintOf(type.slice(0, 6).replace('-', '+')),
  pinned_at: ago(3900),
}))

/** By a name for screenshots. */
export async function autoDeployPagesOf({ call }: Stage): Promise<Record<string, StagedPage>> {
  const all = (await call('GET', '/api/v1/services')).body as unknown as Service[]
  const shop = all.find(({ name }) => name === 'shop')!
  const answer = (now: Partial<AutoDeploys>, settings: Partial<Service> = {}): Answers => ({
    '/services/shop': {
      body: { ...shop, auto_deploy: true, ...settings, auto_deploys: { ...watching, ...now } },
    },
    [`/services/${shop.id}/deliveries`]: { body: deliveries },
  })
  const withKey = (address: string, known: Partial<DeployKey>): Answers => ({
    ...answer({}, { repo_url: address, has_deploy_key: true }),
    [`/services/${shop.id}/deploy-key`]: { body: { ...deployKey, ...known } },
  })
  const git = (known: Partial<GitHook>): Answers => ({
    '/git/connections': { body: accounts.map((one) => ({ ...account, ...one })) },
    '/git/connections/git-1/hook': { body: { ...hook, ...known } },
    '/git/connections/git-1/deliveries': {
      body: [{ ...deliveries[2], id: 'dlv-ping', event: 'ping', reason: 'nothing to do: event ping' }],
    },
  })
  const path = '/services/shop'
  const page = `${path}/auto-deploys`
  const patterns = { watch_paths: ['services/api/**', 'lib/**', '!**/*.md'] }
  return {
    'auto-deploys': {
      path: page,
      texts: ['Watched paths', 'Not decided yet'],
      answers: answer({}, patterns),
    },
    'auto-deploys-off': {
      path: page,
      texts: ['Off. Pushes to main', 'No provider reported'],
      answers: {
        ...answer({ status: 'off', decision: null, actor_id: null }, { auto_deploy: false }),
        [`/services/${shop.id}/deliveries`]: { body: [] },
      },
    },
    'auto-deploys-image': {
      path: page,
      texts: ['New images of ghcr.io/ada/web:stable are deployed'],
      answers: answer(
        { decision: { ...watching.decision!, head: `sha256:${head}` } },
        {
          image: 'ghcr.io/ada/web:stable',
          repo_url: null,
          branch: null,
        },
      ),
    },
    'auto-deploys-uploads': {
      path: page,
      texts: ['deployed from uploads'],
      answers: answer({ status: 'off', decision: null }, { repo_url: null, branch: null }),
    },
    'deploy-key': {
      path: page,
      texts: ['github.com/ada/shop:', 'None yet'],
      answers: withKey('git@github.com:ada/shop.git', {}),
    },
    'deploy-key-pinned': {
      path: page,
      texts: ['Gitea, Forgejo', 'ecdsa-sha2-nistp256'],
      answers: withKey('ssh://git@git.example.com:2222/ada/shop.git', { hosts: pinned }),
    },
    'deploy-key-https': {
      path: page,
      texts: ['--repo git@git.example.com:ada/shop.git'],
      answers: withKey('https://git.example.com/ada/shop.git', {}),
    },
    'deploy-key-replace': {
      path: page,
      texts: ['ecdsa-sha2-nistp256'],
      answers: withKey('git@git.example.com:ada/shop.git', { hosts: pinned }),
      press: ['Replace'],
      shows: ['Replace the deploy key of shop?'],
    },
    'deploy-key-forget': {
      path: page,
      texts: ['ecdsa-sha2-nistp256'],
      answers: withKey('git@git.example.com:ada/shop.git', { hosts: pinned }),
      press: ['Forget'],
      shows: ['Forget the host keys of shop?'],
    },
    'overview-watching': { path, texts: ['Deployed 4f9c1e7'], answers: answer({}) },
    'overview-paused': { path, texts: ['Resume'], answers: answer(paused) },
    'overview-failing': { path, texts: ['Automatic deploys fail since'], answers: answer(failing) },
    'git-accounts': { path: '/server/git-accounts', texts: ['grace at git.example.com'], answers: git({}) },
    'git-accounts-none': {
      path: '/server/git-accounts',
      texts: ['No account is connected'],
      answers: { '/git/connections': { body: [] } },
    },
    webhook: {
      path: '/server/git-accounts',
      texts: ['ada at github.com'],
      answers: git({}),
      press: ['Webhook'],
      shows: ['Payload URL', 'event ping'],
    },
    'webhook-for-checks': {
      path: '/server/git-accounts',
      texts: ['ada at gitlab.com'],
      answers: {
        ...git({
          url: hook.url!.replace('github', 'gitlab'),
          events: ['Push events', 'Tag push events'],
          check_events: ['Pipeline events'],
        }),
        '/git/connections': { body: [{ ...account, provider: 'gitlab', base_url: 'https://gitlab.com' }] },
        '/services': { body: all.map((one) => ({ ...one, deploy_when: 'checks' })) },
      },
      press: ['Webhook'],
      shows: ['Push events, Tag push events, Pipeline events'],
    },
    'webhook-without-host': {
      path: '/server/git-accounts',
      texts: ['ada at github.com'],
      answers: git({ url: null }),
      press: ['Webhook'],
      shows: ['No provider can reach this server'],
    },
  }
}
