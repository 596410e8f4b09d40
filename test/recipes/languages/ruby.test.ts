// Recipes for Ruby.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const lock = (gems: string, platform = 'x86_64-linux') =>
  `GEM\n  specs:\n${gems.replace(/^/gm, '    ')}\n\nPLATFORMS\n  ${platform}\n`
const rails = {
  Gemfile: 'gem "rails"',
  'Gemfile.lock': lock('rails (8.0.1)\npropshaft (1.1.0)\npg (1.5.9-x86_64-linux)\npuma (6.4.2)'),
  'bin/rails': '',
  'config.ru': '',
  'db/schema.rb': '',
}
const sinatra = { Gemfile: "gem 'sinatra'\ngem 'puma', '~> 6'", 'app.rb': "require 'sinatra'\n" }

const starts: Record<string, [Record<string, string>, string]> = {
  Rails: [rails, 'bin/rails server --binding 0.0.0.0 --port $PORT'],
  'Rack with Puma': [{ ...sinatra, 'config.ru': '' }, 'bundle exec puma --bind tcp://0.0.0.0:$PORT'],
  'Rack with what it brings': [
    { Gemfile: "gem 'rackup'", 'config.ru': '' },
    'bundle exec rackup --host 0.0.0.0 --port $PORT',
  ],
  'Sinatra without config.ru': [sinatra, 'bundle exec ruby app.rb -o 0.0.0.0 -p $PORT'],
  'a main file': [{ Gemfile: '', 'main.rb': 'puts 1' }, 'bundle exec ruby main.rb'],
  'a Procfile': [{ ...sinatra, Procfile: 'web: RACK_ENV=x bundle exec puma' }, 'RACK_ENV=x bundle exec puma'],
}

for (const [what, [source, command]] of Object.entries(starts))
  test(`${what} starts by itself`, () => assert.equal(startOf(source), command))

test('Rails precompiles its assets, and prepares its database only if its owner agrees', () => {
  const dockerfile = dockerfileOf(rails, { env: ['RAILS_MASTER_KEY'] })
  assert.match(
    dockerfile,
    /id=RAILS_MASTER_KEY .*SECRET_KEY_BASE_DUMMY=1 bundle exec rake assets:precompile$/m,
  )
  assert.match(dockerfile, /^FROM ruby:3\.4-slim AS app\nRUN .* libpq5 /m)
  assert.deepEqual(
    recipeOf(rails).proposals.map(({ value }) => value),
    ['bin/rails db:prepare'],
  )
  const old = { ...rails, 'Gemfile.lock': lock('rails (7.0.4)\nsprockets-rails (3.4.2)') }
  assert.match(dockerfileOf(old), /^RUN SECRET_KEY_BASE=1 bundle/m)
  assert.doesNotMatch(
    dockerfileOf({ ...rails, 'Gemfile.lock': lock('rails (8.0.1)\npuma (6.4.2)') }),
    /precompile/,
  )
})

test('a package.json has its assets built, by the tools of Rails if they do so', () => {
  const assets = { 'package.json': '{"scripts":{"build":"x"},"engines":{"node":"22"}}', 'yarn.lock': '' }
  const dockerfile = dockerfileOf({ ...rails, ...assets })
  assert.match(dockerfile, /^FROM node:22-slim AS node$/m)
  const order = [
    'yarn install --frozen-lockfile',
    'COPY . .',
    'yarn run build',
    'assets:precompile',
    'FROM ruby',
  ]
  const places = order.map((part) => dockerfile.indexOf(part, dockerfile.indexOf('ln -s')))
  assert.deepEqual(
    places,
    [...places].sort((one, other) => one - other),
    dockerfile,
  )
  const gems = { 'Gemfile.lock': lock('rails (8.0.1)\njsbundling-rails (1.3.1)') }
  const bundled = dockerfileOf({ ...rails, ...gems, 'package.json': '{}' })
  assert.match(bundled, /npm install\n/)
  assert.doesNotMatch(bundled, /run build/)
  assert.doesNotMatch(dockerfileOf({ ...rails, 'package.json': '{}' }), /node/)
})

test('packages of a package.json without a build stay, with Node.js', () => {
  const source = { ...sinatra, 'package.json': '{"dependencies":{"lodash":"4"}}' }
  const dockerfile = dockerfileOf(source)
  assert.match(dockerfile, /npm install\nCOPY \. \.\n\nFROM ruby:3\.4-slim AS app\nCOPY --from=node /)
  assert.match(dockerfile, /^# node_modules stay: package\.json has dependencies, and no build$/m)
  assert.doesNotMatch(dockerfile, /rm -rf node_modules/)
  const tools = { ...sinatra, 'package.json': '{"devDependencies":{"prettier":"3"}}' }
  assert.doesNotMatch(dockerfileOf(tools), /node/)
})

test('JavaScript that runs in the app has its program in the last stage, and where assets are built', () => {
  const dockerfile = dockerfileOf({ Gemfile: '', 'Gemfile.lock': lock('execjs (2.9.1)'), 'app.rb': '' })
  assert.match(dockerfile, /AS app\nCOPY --from=node \/usr\/local\/bin\/node /)
  const gems = lock('execjs (2.9.1)\npuma (6.4.2)\nrails (7.2.0)\nsprockets-rails (3.5.2)')
  const assets = dockerfileOf({ Gemfile: '', 'Gemfile.lock': gems, 'bin/rails': '' })
  assert.match(assets, /^COPY --from=node \/usr\/local\/bin\/node \S+\nRUN .* assets:precompile$/m)
})

const versions: Record<string, [Record<string, string>, string]> = {
  'its own file': [{ '.ruby-version': 'ruby-3.3.6\n' }, '3.3.6'],
  'the Gemfile': [{ Gemfile: "ruby '~> 3.2.0'" }, '3.2'],
  'the lock file': [{ 'Gemfile.lock': 'RUBY VERSION\n   ruby 3.1.2p20\n' }, '3.1.2'],
}

for (const [what, [source, tag]] of Object.entries(versions))
  test(`the version follows ${what}`, () => {
    const dockerfile = dockerfileOf({ Gemfile: '', 'app.rb': '', ...source })
    assert.match(dockerfile, new RegExp(`^FROM ruby:${tag}-slim AS app$`, 'm'))
  })

test('gems are held to a lock file that knows Linux', () => {
  const source = (platform: string) => ({
    Gemfile: '',
    'app.rb': '',
    'Gemfile.lock': lock('a (1.0)', platform),
  })
  assert.match(dockerfileOf(source('ruby')), /BUNDLE_FROZEN=1/)
  const dockerfile = dockerfileOf(source('arm64-darwin-23'))
  assert.doesNotMatch(dockerfile, /BUNDLE_FROZEN/)
  assert.match(dockerfile, /^COPY \. \.\nRUN bundle install$/m)
})

test('gems in folders are there before the others are installed', () => {
  const dockerfile = dockerfileOf({ Gemfile: 'gem "local", path: "libs/local"', 'app.rb': '' })
  assert.match(dockerfile, /^COPY \. \.\nRUN bundle install$/m)
})

test('Jekyll is built with a Ruby that its version runs on', () => {
  const site = (gems: string) => dockerfileOf({ Gemfile: 'gem "jekyll"', 'Gemfile.lock': lock(gems) })
  assert.match(site('jekyll (4.2.2)\nliquid (4.0.3)'), /^FROM ruby:3\.1 AS build$/m)
  assert.match(site('jekyll (4.3.4)\nliquid (4.0.4)'), /^FROM ruby:3\.3 AS build$/m)
  assert.match(site('jekyll (4.4.1)\nliquid (4.0.4)\ncsv (3.3.5)'), /^FROM ruby:3\.4 AS build$/m)
  assert.match(
    site(''),
    /^FROM ruby:3\.3 AS build[\s\S]*^RUN JEKYLL_ENV=production bundle exec jekyll build /m,
  )
})

test('a background worker runs jobs, if a gem for them is there', () => {
  const settings = { type: 'background_worker' } as const
  const jobs = { ...rails, 'Gemfile.lock': lock('rails (8.0.1)\nsolid_queue (1.1.0)') }
  assert.equal(startOf(jobs, settings), 'bundle exec rake solid_queue:start')
  assert.equal(recipeOf(jobs, settings).port, null)
  assert.match(startOf(jobs), /^bin\/rails server /)
})

test('Jekyll makes pages', () => {
  const { site, port, stages } = recipeOf({ Gemfile: 'gem "jekyll"', 'index.html': '---' })
  assert.deepEqual([site, port, stages.at(-1)?.from], [{ folder: '/site', fallback: false }, null, 'scratch'])
})

test('a refusal says what was nearest', () => {
  assert.match(problemOf({ Gemfile: "gem 'rack'", 'config.ru': '' }), /^config\.ru is there, but no server/)
  assert.match(problemOf({ Gemfile: '' }), /^Gemfile is there, but no Rails/)
})
