// Ruby: its gems, and the assets of Rails.
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import {
  appUser,
  copy,
  copyFrom,
  type Draft,
  env,
  propose,
  type Reasoned,
  type Refusal,
  refuse,
  run,
  start,
  toChoice,
  user,
  type Wishes,
  workdir,
} from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { chooseVersion, readVersionFiles, type Version } from '../../versions.ts'
import { chooseAssets } from '../assets.ts'
import { copyByFolder } from '../copies.ts'
import { installPackages } from '../debian.ts'
import type { Language } from '../language.ts'
import { findLibraries, hasLocalGems, isLockedForLinux, readGems } from './gems.ts'
import { findStart, findWorker } from './start.ts'

const supported = { tags: ['3.2', '3.3', '3.4', '4.0'], usual: '3.4' }
/** Their tasks call the scripts of package.json. */
const bundlers = ['jsbundling-rails', 'cssbundling-rails', 'vite_ruby', 'shakapacker', 'webpacker']
const precompilers = ['sprockets-rails', 'propshaft', ...bundlers]

export const ruby: Language = { evidence: ['Gemfile', 'config.ru'], isHere, draft }

/** Others have a Gemfile for their tools, so with a package.json it must be clear what starts. */
function isHere(app: Tree): boolean {
  return app.has('Gemfile') && (!app.has('package.json') || 'command' in findStart(app, readGems(app)))
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { app } = facts
  const gems = readGems(app)
  const version = rubyVersion(app, gems)
  const isCalled = bundlers.some((gem) => gems.has(gem))
  // ExecJS runs JavaScript while the app runs.
  const assets = chooseAssets(app, { isCalled, runsNode: gems.has('execjs') })
  const isSite = gems.has('jekyll') || gems.has('github-pages')
  const found = isSite ? null : findStart(app, gems)
  const worker = wishes.type === 'background_worker' ? findWorker(gems) : null
  const runs = wishes.start ?? worker ?? (found && 'command' in found ? found : null)
  if (runs === null && found !== null)
    return refuse((found as { problem: string }).problem, { lookedFor: ['config.ru', 'app.rb'] })
  const build = wishes.build ?? ownBuild(gems)
  const libraries = findLibraries(gems)
  const isLocal = hasLocalGems(app)
  // What was locked for Linux by the first run is overwritten by the sources.
  const isUnlocked = app.has('Gemfile.lock') && !isLockedForLinux(app)
  const isBot = app.first('config.ru', 'app.rb', 'main.rb', 'bot.rb') === 'bot.rb'
  return {
    title: findTitle(gems),
    choices: [
      { what: `ruby ${version.tag}`, reason: version.reason },
      ...(isUnlocked
        ? [{ what: 'versions of gems may differ', reason: 'Gemfile.lock has no platform of Linux' }]
        : []),
      ...assets.choices,
      ...libraries.map(({ gem, library }) => ({ what: library, reason: `${gem} uses it` })),
      ...[build, runs].flatMap(toChoice),
    ],
    stages: [
      ...assets.stages,
      {
        name: 'build',
        from: `ruby:${version.tag}`,
        steps: [
          workdir('/app'),
          env(environment(app, gems)),
          ...(isLocal ? [copy(['.'], '.')] : copyByFolder(gemfiles(app))),
          run('bundle install'),
          ...(assets.install ?? (isLocal ? [] : [copy(['.'], '.')])),
          ...(isUnlocked ? [run('bundle install')] : []),
          ...assets.build,
          ...(build ? [run(build.command, { secrets: wishes.env })] : []),
          ...(runs ? [] : [run('JEKYLL_ENV=production bundle exec jekyll build --destination /site')]),
          ...assets.clean,
        ],
      },
      runs
        ? {
            name: 'app',
            from: `ruby:${version.tag}-slim`,
            steps: [
              ...installPackages(libraries.map(({ library }) => library)),
              ...assets.run,
              copyFrom('build', ['/usr/local/bundle'], '/usr/local/bundle'),
              copyFrom('build', ['/app'], '/app', appUser),
              workdir('/app'),
              env({ ...environment(app, gems), HOME: '/app' }),
              user,
              start(runs.command),
            ],
          }
        : { name: 'site', from: 'scratch', steps: [copyFrom('build', ['/site'], '/site')] },
    ],
    ignore: ['node_modules', 'log/*', 'tmp/*', '.bundle', 'vendor/bundle'],
    port: runs === null || isBot || !listens(wishes) ? null : 3000,
    site: runs ? null : { folder: '/site', fallback: false },
    proposals: gems.has('rails') && app.hasFolder('db') ? [migration] : [],
  }
}

const migration = propose('bin/rails db:prepare', 'Rails has a database')

function findTitle(gems: Map<string, string>): string {
  const known = { rails: 'Rails', sinatra: 'Sinatra', jekyll: 'Jekyll' }
  const [, framework] = Object.entries(known).find(([gem]) => gems.has(gem)) ?? []
  return framework ? `Ruby with ${framework}` : 'Ruby'
}

function environment(app: Tree, gems: Map<string, string>): Record<string, string> {
  const rails = { RAILS_ENV: 'production', RAILS_LOG_TO_STDOUT: '1', RAILS_SERVE_STATIC_FILES: '1' }
  return {
    BUNDLE_WITHOUT: 'development:test',
    ...(isLockedForLinux(app) && { BUNDLE_FROZEN: '1' }),
    ...(gems.has('rails') ? rails : { RACK_ENV: 'production' }),
  }
}

/** Nothing is signed in the build, so any key does. */
function ownBuild(gems: Map<string, string>): Reasoned | null {
  const gem = precompilers.find((one) => gems.has(one))
  if (!gems.has('rails') || gem === undefined) return null
  const [major = 0, minor = 0] = (gems.get('rails') ?? '').split('.').map(Number)
  const key = major > 7 || (major === 7 && minor > 0) ? 'SECRET_KEY_BASE_DUMMY' : 'SECRET_KEY_BASE'
  return { command: `${key}=1 bundle exec rake assets:precompile`, reason: `${gem} is among the gems` }
}

/** And the files that a Gemfile may read its version from. */
function gemfiles(app: Tree): string[] {
  return ['Gemfile', 'Gemfile.lock', '.ruby-version', '.tool-versions'].filter((file) => app.has(file))
}

function rubyVersion(app: Tree, gems: Map<string, string>): Version {
  const [, asked] = /^\s*ruby[\s(]+["']([^"']+)["']/m.exec(app.text('Gemfile')) ?? []
  const [, locked] = /^RUBY VERSION\s+ruby (\d+\.\d+\.\d+)/m.exec(app.text('Gemfile.lock')) ?? []
  // Ruby 3.4 has csv as a gem only, and an old Liquid calls what Ruby 3.2 has no more.
  const jekyll = /^4\.0\.[0-3]$/.test(gems.get('liquid') ?? '') ? '3.1' : '3.3'
  const wishes = [
    ...(asked ? [{ text: asked, reason: `ruby ${JSON.stringify(asked)} in Gemfile` }] : []),
    ...(locked ? [{ text: locked, reason: `${locked} in Gemfile.lock` }] : []),
    ...(gems.has('jekyll') && !gems.has('csv') ? [{ text: jekyll, reason: 'each Jekyll runs on it' }] : []),
  ]
  return chooseVersion([...readVersionFiles(app, ['.ruby-version'], 'ruby'), ...wishes], supported)
}
