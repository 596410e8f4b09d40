// Recipes for PHP.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const serves = (root: string) => `frankenphp php-server --listen :$PORT --root /srv/app${root}`
const laravel = {
  'composer.json':
    '{"require":{"php":"^8.2","laravel/framework":"^12.0","ext-pdo_pgsql":"*","ext-json":"*"}}',
  'composer.lock': '',
  'public/index.php': '',
}

const starts: Record<string, [Record<string, string>, string]> = {
  'a page': [{ 'index.php': '' }, serves('')],
  'a folder of pages': [{ ...laravel, 'index.php': '' }, serves('/public')],
  'what a server of Heroku would serve': [
    {
      'web/index.php': '',
      'docs/x.php': '',
      Procfile: 'web: vendor/bin/heroku-php-nginx -C nginx.conf docs/',
    },
    serves('/docs'),
  ],
  'a Procfile': [{ ...laravel, Procfile: 'web: php artisan octane:start' }, 'php artisan octane:start'],
}

for (const [what, [source, command]] of Object.entries(starts))
  test(`${what} is served`, () => assert.equal(startOf(source), command))

test('pages alone need no build', () => {
  const { stages } = recipeOf({ 'index.php': '', 'composer.json': '{"require":{"php":"^8.2"}}' })
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['base', 'app'],
  )
})

test('packages that are part of the source stay, if nothing installs them', () => {
  assert.ok(!recipeOf({ 'index.php': '', 'vendor/autoload.php': '' }).ignore.includes('vendor'))
  assert.ok(recipeOf(laravel).ignore.includes('vendor'))
})

test('packages are installed before the sources, and once more with them', () => {
  const dockerfile = dockerfileOf(laravel)
  const order = ['COPY composer.json composer.lock', '--no-scripts', 'COPY . .', 'composer install --no-dev']
  let end = 0
  for (const part of order) {
    const place = dockerfile.indexOf(part, end)
    assert.ok(place > end, `${part} does not follow in:\n${dockerfile}`)
    end = place + part.length
  }
})

test('extensions are those of the manifest and of the framework that the image does not have', () => {
  assert.match(dockerfileOf(laravel), /^RUN install-php-extensions pcntl pdo_mysql pdo_pgsql redis$/m)
  assert.match(dockerfileOf({ 'wp-includes/version.php': '', 'index.php': '' }), / mysqli /)
  const symfony = '{"require":{"symfony/framework-bundle":"7.*"}}'
  assert.match(dockerfileOf({ ...laravel, 'composer.json': symfony }), /^ENV APP_ENV=prod /m)
  const ignore = (source: Record<string, string>) =>
    recipeOf(source).ignore.filter((line) => /^!?\.env$/.test(line))
  assert.deepEqual(ignore({ ...laravel, 'composer.json': symfony }), ['.env', '!.env'])
  assert.deepEqual(ignore(laravel), ['.env'])
  const mapper = '{"require":{"symfony/asset-mapper":"7.*"}}'
  assert.match(dockerfileOf({ ...laravel, 'composer.json': mapper }), /^RUN php \S+ asset-map:compile$/m)
})

test('assets are built where the packages are, and not kept with their tools', () => {
  const dockerfile = dockerfileOf({ ...laravel, 'package.json': '{"scripts":{"build":"vite build"}}' })
  assert.match(dockerfile, /^FROM node:24-slim AS node$/m)
  assert.match(dockerfile, /composer install [^\n]*\nRUN npm run build\nRUN rm -rf node_modules\n/)
})

test('Laravel migrates only if its owner agrees, and has workers', () => {
  assert.equal(recipeOf(laravel).proposals[0]?.value, 'php artisan migrate --force')
  assert.doesNotMatch(dockerfileOf(laravel), /migrate/)
  assert.deepEqual(recipeOf({ ...laravel, Procfile: 'release: php artisan migrate' }).proposals, [])
  const settings = { type: 'background_worker' } as const
  assert.equal(startOf(laravel, settings), 'php artisan queue:work')
  assert.equal(recipeOf(laravel, settings).port, null)
})

test('the version is one that the manifest allows', () => {
  const from = (php: string) =>
    /dunglas\/frankenphp:\S+/.exec(dockerfileOf({ 'index.php': '', 'composer.json': php }))?.[0]
  assert.equal(from('{"require":{"php":"^8.2"}}'), 'dunglas/frankenphp:1-php8.4')
  assert.equal(from('{"require":{"php":"~8.2.0"}}'), 'dunglas/frankenphp:1-php8.2')
})

test('a refusal says what was nearest', () => {
  assert.match(problemOf({ 'composer.json': '{}' }), /^composer\.json is there, but no index\.php/)
})
