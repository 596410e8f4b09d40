// Preferred values of some fields, so that valid requests pass the first checks and runs stay fast: local
// repositories, few instances, a working start command.
// Invalid requests also use other values in these fields.
import fc from 'fast-check'
import { named, nth, secret } from './tokens.ts'
import type { Json, Taste } from './values.ts'

const index = fc.nat({ max: 9 })

const repositories = [
  named('app'),
  named('private'),
  named('bare'),
  named('hanging'),
  'http://127.0.0.1:9/app',
  `https://user:${secret('repository', 'encoded')}@127.0.0.1:9/app`,
  '/nowhere/at/all',
  'git@host.invalid:owner/name',
]

const values = fc.oneof(
  { weight: 4, arbitrary: fc.constant(secret('env')) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: index.map((position) => `\${{service.${nth('services', position)}.hostport}}`) },
  {
    weight: 1,
    arbitrary: index.map((position) => `\${{datastore.${nth('datastores', position)}.connectionString}}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('${{service.nobody.host}}', '$${{literal}}', '') },
)

/** A small set, so that services conflict; some are the default host of a service. */
const domains = fc.constantFrom(
  'a.example',
  'B.example.',
  'münchen.example',
  'web.localhost',
  'shop.localhost',
)

const tastes: Record<string, fc.Arbitrary<Json>> = {
  repo_url: fc.constantFrom(...repositories),
  image: fc.constantFrom(named('busybox'), '127.0.0.1:9/app', 'registry.invalid/app:v1', 'none.invalid/a/b'),
  branch: fc.constantFrom('main', 'main', 'gone', 'other/one'),
  root_dir: fc.constantFrom('.', 'app', 'gone', 'a/../app'),
  dockerfile_path: fc.constantFrom('Dockerfile', 'app/Dockerfile', 'gone', '../Dockerfile'),
  publish_dir: fc.constantFrom('www', '.', 'gone'),
  start_command: fc.constantFrom('exec httpd -f -p $PORT -h /www', 'exit 1', 'sleep 100', 'no-such-program'),
  pre_deploy_command: fc.constantFrom('true', 'exit 3', 'sleep 1'),
  command: fc.constantFrom('env', 'exit 3', 'sleep 1', 'no-such-program'),
  schedule: fc.constantFrom('* * * * *', '@daily', '0 3 * * 1', '0 0 30 2 *'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Nowhere/None'),
  timeout_seconds: fc.constantFrom(0, 1, 60),
  health_check_path: fc.constantFrom('/', '/healthz', '/gone'),
  disk_mount_path: fc.constantFrom('/data', '/var/lib/app'),
  deploy: fc.constantFrom(false, false, false, false, false, true),
  instances: fc.constantFrom(1, 1, 2),
  memory_limit_mb: fc.constantFrom(0, 16, 32, 64),
  cpu_limit: fc.constantFrom(0, 0.25, 1),
  drain_seconds: fc.constantFrom(0, 0, 1),
  health_check_timeout_seconds: fc.constantFrom(1, 2, 3),
  port: fc.constantFrom(0, 3000, 8080),
  version: fc.constantFrom('7', '15', '17.2'),
  deploy_id: index.map((position) => nth('deploys', position)),
  commit: fc.constantFrom(named('head'), 'abcd', '0'.repeat(40)),
  key: fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,7}$/),
  value: values,
  domain: domains,
  custom_domains: fc.array(domains, { maxLength: 2 }),
  username: fc.constantFrom('user', 'robot$x'),
  password: fc.constant(secret('registry')),
  // Never a provider on the internet.
  base_url: fc.constantFrom('http://127.0.0.1:9', 'http://git.invalid', 'http://169.254.169.254'),
  token: fc.constant(secret('git')),
  client_secret: fc.constant(secret('git')),
}

export const taste: Taste = (field) => tastes[field] ?? null
