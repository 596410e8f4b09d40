// An example for each named request body. A test parses each with the schema that validates requests.
import type { Json } from './schema.ts'

const deployId = 'dep-01jd2x9v6m3q8w4k7r5t1y0z2a'
const backupId = 'bak-01jd2x9v6m3q8w4k7r5t1y0z2b'
const password = 'correct horse battery staple'

const examples: Readonly<Record<string, Json>> = {
  Setup: { code: 'the code that the server printed', email: 'admin@example.com', password },
  Login: { email: 'admin@example.com', password },
  ChangePassword: { current_password: password, new_password: 'another long password', revoke_tokens: true },
  CreateToken: { name: 'CI', role: 'deploy', services: ['web'], expires_in_days: 90 },
  StartTerminalLogin: { name: 'laptop' },
  ApproveTerminalLogin: { role: 'deploy', expires_in_days: 90 },
  PollTerminalLogin: { secret: 'the secret from the start of the login' },
  CreateService: {
    name: 'web',
    type: 'web_service',
    repo_url: 'https://example.com/web.git',
    branch: 'main',
    health_check_path: '/health',
    env: [{ key: 'LOG_LEVEL', value: 'info' }],
  },
  UpdateService: { branch: 'release', instances: 2 },
  ScaleService: { instances: 3 },
  Rollback: { deploy_id: deployId },
  AddDomain: { domain: 'shop.example.com' },
  UpgradeDatastore: { version: '18' },
  ChownDisk: { owner: '1000:1000' },
  EdgeUpgrade: { force: true },
  ReplaceEnv: { vars: [{ key: 'GREETING', value: 'hi' }] },
  ChangeEnv: { set: [{ key: 'GREETING', value: 'hi' }], unset: ['OLD'] },
  CreateDeploy: { commit: '3f2a9c1', clear_cache: true },
  CreateJob: { command: 'npm run migrate', timeout_seconds: 600 },
  CreateDatastore: { kind: 'postgres', name: 'orders', backup_schedule: '0 3 * * *', backup_keep: 14 },
  UpdateDatastore: { memory_limit_mb: 1024, cpu_limit: 2 },
  CreateRestore: { backup_id: backupId },
  PutRegistry: { username: 'ci', password: 'a token of the registry' },
  AuthorizeGit: { provider: 'github', redirect_uri: 'https://berth.example.com/git/callback' },
  CompleteGit: { state: 'the state', code: 'the code' },
  ConnectGit: { provider: 'gitlab', token: 'glpat-0123456789', base_url: 'https://gitlab.example.com' },
  RestoreTrash: { name: 'orders-again' },
}

export function exampleOf({ $ref }: Json): Json | undefined {
  return examples[String($ref).replace('#/components/schemas/', '')]
}
