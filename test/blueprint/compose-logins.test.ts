// Whose password a variable of a Compose file is, and where its value goes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importCompose } from '../../src/blueprint/compose/compose.ts'
import { parseSecrets, printSecrets } from '../../src/blueprint/secrets.ts'

const env = new Map([
  ['DB_PASSWORD', 'admin'],
  ['DB_USER', 'ada'],
  ['SHARED', 'admin'],
  ['OTHER', 'admin'],
  ['REDIS_PW', 'admin'],
])

function read(text: string, files: Record<string, string> = {}) {
  return importCompose(text, {
    env,
    base: '',
    readEnvFile: (path) =>
      files[path]?.split(' ').map((line) => ({ key: line.split('=')[0]!, value: line.split('=')[1]! })) ??
      null,
    readText: (path) => files[path] ?? null,
  })
}

function webWith(environment: string, database: string) {
  const { blueprint, remaining, secrets } = read(`services:
  web: { image: a, environment: { ${environment} } }
  db: { image: "postgres:17", environment: { ${database} } }
`)
  const { env = {} } = blueprint.services!.web!
  const lines = remaining.filter(({ what }) => what.startsWith('services.web.')).map(({ what }) => what)
  return { env, named: lines.map((what) => what.split('.').at(-1)), secrets: secrets.map(({ key }) => key) }
}

const ref = (part: string) => `\${{datastore.db.${part}}}`
const user = 'POSTGRES_USER: ada'
const fromEnv = `${user}, POSTGRES_PASSWORD: "\${DB_PASSWORD}"`
const literal = `${user}, POSTGRES_PASSWORD: admin`

const passwords: [variable: string, database: string, isPassword: boolean][] = [
  ['DB_PASS: "${DB_PASSWORD}"', fromEnv, true],
  ['PGPASSWORD: $DB_PASSWORD', fromEnv, true],
  ['APP_SECRET_2: "${DB_PASSWORD}"', fromEnv, true],
  ['DB_PASS: "${DB_PASSWORD:-admin}"', fromEnv, true],
  ['DB_PASS: "${UNSET:-${DB_PASSWORD}}"', fromEnv, true],
  ['DB_PASS: "${UNSET:-admin}"', `${user}, POSTGRES_PASSWORD: "\${UNSET:-admin}"`, true],
  ['DB_PASS: "${UNSET}"', `${user}, POSTGRES_PASSWORD: "\${UNSET}"`, true],
  ['DB_HOST: db, DB_PASSWORD: admin', literal, true],
  ['DB_HOST: db, PAPERLESS_DBPASS: admin', literal, true],
  ['DB_HOST: db, database__connection__password: admin', literal, true],
  ['URL: "http://db:80", POSTGRES_PASSWORD: admin', literal, true],
  ['DB_HOST: db, DB_PASSWORD: "${UNSET}"', literal, true],
  ['ADMIN_PASSWORD: "${X:-admin}", DB_HOST: db', `${user}, POSTGRES_PASSWORD: "\${Y:-admin}"`, false],
  ['ADMIN_PASSWORD: "${SHARED}", DB_HOST: db', `${user}, POSTGRES_PASSWORD: "\${SHARED}"`, false],
  ['ADMIN_PASSWORD: "${OTHER}", DB_HOST: db', fromEnv, false],
  ['DB_HOST: db, ADMIN_PASSWORD: admin', literal, false],
  ['DB_HOST: db, DB_ADMIN_PASSWORD: admin', literal, false],
  ['DB_HOST: db, PGADMIN_DEFAULT_PASSWORD: admin', literal, false],
  ['DB_HOST: db, SECRET_KEY: admin', literal, false],
  ['DB_HOST: db, PASSWORD: admin', literal, false],
  ['DB_HOST: db, MAIL_PASSWORD: admin', literal, false],
  ['DB_HOST: db, REDIS_PASSWORD: admin', literal, false],
  ['DB_HOST: db, MYSQL_PASSWORD: admin', literal, false],
  ['DB_PASSWORD: admin', literal, false],
  ['DB_HOST: other, DB_PASSWORD: admin', literal, false],
  ['DB_HOST: db, DB_PASSWORD: another', literal, false],
]

for (const [variables, database, isPassword] of passwords) {
  const verdict = isPassword ? 'is its password, and named' : 'has another password'
  test(`${variables} beside ${database} ${verdict}`, () => {
    const { env, named } = webWith(variables, database)
    const [key] = Object.entries(env).find(([, value]) => value === ref('password')) ?? []
    assert.equal(key !== undefined, isPassword)
    if (key !== undefined) assert.ok(named.includes(key))
  })
}

test('the user and the database follow the password, by reference or by their names', () => {
  const variables =
    'DB_HOST: db, DB_USER: "${DB_USER}", DB_NAME: shop, MODE: shop, DB_PASSWORD: "${DB_PASSWORD}"'
  const { env, secrets } = webWith(
    variables,
    'POSTGRES_USER: "${DB_USER}", POSTGRES_DB: shop, POSTGRES_PASSWORD: "${DB_PASSWORD}"',
  )
  const names = { DB_USER: ref('user'), DB_NAME: ref('database'), MODE: 'shop', DB_PASSWORD: ref('password') }
  assert.deepEqual([env, secrets], [{ DB_HOST: ref('host'), ...names }, []])
})

test('the password of another user stays a secret, and the user is named as missing', () => {
  const text = (value: string) => `services:
  web: { image: a, environment: { DB_HOST: db, DB_USER: app, DB_PASSWORD: "${value}" } }
  db: { image: "postgres:17", environment: { POSTGRES_USER: ada, POSTGRES_PASSWORD: "\${DB_PASSWORD}" } }
`
  for (const value of ['${OTHER}', '${DB_PASSWORD}', 'admin', 'x']) {
    const { blueprint, remaining } = read(text(value))
    assert.deepEqual(blueprint.services?.web?.secrets, ['DB_PASSWORD'], value)
    assert.match(
      remaining.map(({ reason }) => reason).join('\n'),
      /only user of db is 'ada': create the other/,
    )
  }
})

test('one variable for two datastores goes to the one that its name says', () => {
  const { blueprint } = read(`services:
  web: { image: a, environment: { DB_PASSWORD: $SHARED, REDIS_PASSWORD: $SHARED, BOTH: $SHARED } }
  db: { image: "postgres:17", environment: { POSTGRES_PASSWORD: $SHARED } }
  cache: { image: "redis:8", command: "redis-server --requirepass $SHARED" }
`)
  assert.deepEqual(blueprint.services?.web, {
    type: 'background_worker',
    image: 'a',
    env: { DB_PASSWORD: ref('password'), REDIS_PASSWORD: '${{datastore.cache.password}}' },
    secrets: ['BOTH'],
  })
})

for (const command of [
  '"redis-server --requirepass ${REDIS_PW}"',
  '[redis-server, --requirepass, "${REDIS_PW}"]',
]) {
  test(`the password of a Redis is known from ${command}`, () => {
    const { blueprint } = read(`services:
  web: { image: a, environment: { WORD: "\${REDIS_PW}" } }
  cache: { image: "redis:8", command: ${command} }
`)
    assert.deepEqual(blueprint.services?.web?.env, { WORD: '${{datastore.cache.password}}' })
  })
}

test('a file of variables that both have says whose password it is', () => {
  const { blueprint } = read(
    `services:
  web: { image: a, env_file: both.env }
  db: { image: "postgres:17", env_file: ./both.env }
`,
    { 'both.env': 'POSTGRES_PASSWORD=pw', './both.env': 'POSTGRES_PASSWORD=pw' },
  )
  assert.deepEqual(blueprint.services?.web?.env, { POSTGRES_PASSWORD: ref('password') })
})

test('a secret of Compose becomes a variable, and the password that both read is a reference', () => {
  const { blueprint, secrets } = read(
    `services:
  web: { image: a, environment: { DB_PASSWORD_FILE: /run/secrets/pw, TOKEN_FILE: /run/secrets/token } }
  db: { image: "postgres:17", environment: { POSTGRES_PASSWORD_FILE: /run/secrets/pw } }
secrets: { pw: { file: ./pw.txt }, token: { file: ./token.txt } }
`,
    { './pw.txt': 'x\n', './token.txt': 'y\n' },
  )
  assert.deepEqual(blueprint.services?.web?.env, { DB_PASSWORD: ref('password') })
  assert.deepEqual(secrets, [{ service: 'web', key: 'TOKEN', value: 'y' }])
})

test('secrets that are renamed, joined or literal are in the file of secrets, and settings are not', () => {
  const { blueprint, secrets } = read(`services:
  web:
    image: a
    environment:
      PGPASS: \${DB_PASSWORD}
      URL: http://x/\${DB_USER}
      APP_SECRET: change-me
      MYSQL_DATABASE: \${DB_USER}
      MISSING: \${NOTHING}
`)
  const { env, secrets: keys } = blueprint.services!.web!
  assert.deepEqual([env, keys], [{ MYSQL_DATABASE: 'ada' }, ['PGPASS', 'URL', 'APP_SECRET', 'MISSING']])
  assert.deepEqual(
    secrets.map(({ key, value }) => [key, value]),
    [
      ['PGPASS', 'admin'],
      ['URL', 'http://x/ada'],
      ['APP_SECRET', 'change-me'],
    ],
  )
})

test('values of an env file that name others are put together, as Compose does it', () => {
  const { blueprint } = read(
    'services: { web: { image: a, env_file: x.env }, db: { image: postgres, environment: [POSTGRES_DB=y] } }',
    { 'x.env': 'PW=b URL=postgres://postgres:${PW}@db/y' },
  )
  assert.equal(blueprint.services?.web?.env?.URL, ref('connectionString'))
})

test('a file of secrets keeps any value, and those of services apart', () => {
  const secrets = [
    { service: 'a', key: 'KEY', value: 'two\nlines \'and\' "quotes" $' },
    { service: 'b', key: 'KEY', value: 'x' },
  ]
  assert.deepEqual(parseSecrets(printSecrets(secrets)), secrets)
})
