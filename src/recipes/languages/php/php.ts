// PHP: served by FrankenPHP.
import { posix } from 'node:path'
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import { toObject } from '../../json.ts'
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
  type Stage,
  type Step,
  start,
  toChoice,
  user,
  type Wishes,
  workdir,
} from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { chooseVersion, readVersionFiles, type Version } from '../../versions.ts'
import { chooseAssets } from '../assets.ts'
import { installPackages } from '../debian.ts'
import type { Language } from '../language.ts'
import { readExtensions, readRequired } from './extensions.ts'
import { findFramework } from './frameworks.ts'

const supported = { tags: ['8.2', '8.3', '8.4', '8.5'], usual: '8.4' }
const roots = ['public', 'web', 'webroot', 'html', 'www', 'htdocs', '']
const install = 'composer install --no-dev --no-interaction --optimize-autoloader'
/** The image has pages of its own in /app. */
const folder = '/srv/app'
const cache = '/root/.cache/composer'
const withoutLock = 'composer.json, but there is no composer.lock, so versions may change'
const ignored = ['node_modules', 'storage/logs/*', 'var/cache', 'var/log']
const compileAssets = { command: 'php bin/console asset-map:compile', reason: 'symfony/asset-mapper' }

export const php: Language = {
  evidence: ['composer.json', 'index.php', 'public/index.php'],
  isHere: (app) => findRoot(app) !== null || (app.has('composer.json') && !app.has('package.json')),
  draft,
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { app } = facts
  const framework = findFramework(app)
  const isWorker = wishes.type === 'background_worker'
  const worker = isWorker && framework?.worker ? { command: framework.worker, reason: framework.name } : null
  // The servers of Heroku are not in the image.
  const wish = /heroku-php-/.test(wishes.start?.command ?? '') ? null : wishes.start
  const runs = wish ?? worker ?? serve(app, wishes.start)
  if (runs === null)
    return refuse('composer.json is there, but no index.php at the top, in public or in web', {
      lookedFor: ['index.php', 'public/index.php'],
    })
  const version = phpVersion(app)
  const extensions = readExtensions(app, framework?.extensions ?? [])
  const assets = chooseAssets(app)
  const hasPackages = Object.keys(readRequired(app)).some((name) => name.includes('/'))
  const isBuilt = hasPackages || assets.install !== null || wishes.build !== null
  const environment = framework?.env ?? {}
  // Symfony does not start without the file of its defaults.
  const kept = framework?.name === 'Symfony' ? ['!.env', '!.env.prod'] : []
  const own = wishes.build ?? (readRequired(app)['symfony/asset-mapper'] ? compileAssets : null)
  const build: Stage = {
    name: 'build',
    from: 'base',
    steps: [
      ...(hasPackages ? installPackages(['git', 'unzip']) : []),
      workdir(folder),
      env({ ...environment, COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_CACHE_DIR: cache }),
      ...(hasPackages ? installFirst(app) : []),
      ...(assets.install ?? [copy(['.'], '.')]),
      ...(hasPackages ? [run(install, { caches: [cache] })] : []),
      ...assets.build,
      ...(own ? [run(own.command, { secrets: wishes.env })] : []),
      ...assets.clean,
    ],
  }
  return {
    title: framework ? `PHP with ${framework.name}` : 'PHP',
    choices: [
      { what: `php ${version.tag}`, reason: version.reason },
      ...(extensions.length > 0
        ? [{ what: extensions.join(', '), reason: 'composer.json asks for them, or its framework' }]
        : []),
      ...(hasPackages ? [{ what: install, reason: app.first('composer.lock') ?? withoutLock }] : []),
      ...assets.choices,
      ...[own, runs].flatMap(toChoice),
    ],
    stages: [
      ...(hasPackages ? [{ name: 'composer', from: 'composer:2', steps: [] }] : []),
      ...assets.stages,
      {
        name: 'base',
        from: `dunglas/frankenphp:1-php${version.tag}`,
        steps: extensions.length > 0 ? [run(`install-php-extensions ${extensions.join(' ')}`)] : [],
      },
      ...(isBuilt ? [build] : []),
      {
        name: 'app',
        from: 'base',
        steps: [
          ...assets.run,
          isBuilt ? copyFrom('build', [folder], folder, appUser) : copy(['.'], folder, appUser),
          workdir(folder),
          // The server keeps its state there.
          env({ ...environment, HOME: folder, XDG_CONFIG_HOME: '/tmp', XDG_DATA_HOME: '/tmp' }),
          user,
          start(runs.command),
        ],
      },
    ],
    ignore: [...ignored, ...(hasPackages ? ['vendor'] : []), ...kept],
    port: listens(wishes) ? 8080 : null,
    proposals: framework?.migration ? [propose(framework.migration, `${framework.name} has migrations`)] : [],
  }
}

/** Scripts and the autoloader need the sources, which come later. */
function installFirst(app: Tree): Step[] {
  const { repositories } = app.json('composer.json')
  const isLocal = Object.values(repositories ?? {}).some((one) => toObject(one).type === 'path')
  return [
    copyFrom('composer', ['/usr/bin/composer'], '/usr/local/bin/'),
    isLocal
      ? copy(['.'], '.')
      : copy(['composer.json', ...(app.has('composer.lock') ? ['composer.lock'] : [])], './'),
    run(`${install} --no-scripts --no-autoloader`, { caches: [cache] }),
  ]
}

function serve(app: Tree, wish: Reasoned | null): Reasoned | null {
  const words = wish?.command.split(/\s+/).map((word) => word.replace(/\/$/, '')) ?? []
  const wished = words.find((word) => app.hasFolder(word))
  const root = wished ?? findRoot(app)
  if (root === null) return null
  const path = posix.join(folder, root)
  return {
    command: `frankenphp php-server --listen :$PORT --root ${path}`,
    reason: wished ? `${wish?.reason} names ${wished}` : `${posix.join(root, 'index.php')} is there`,
  }
}

function findRoot(app: Tree): string | null {
  return roots.find((root) => app.has(posix.join(root, 'index.php'))) ?? null
}

function phpVersion(app: Tree): Version {
  const { php: range } = readRequired(app)
  const reason = `php ${JSON.stringify(range)} in composer.json`
  const wishes = typeof range === 'string' ? [{ text: range, reason }] : []
  return chooseVersion([...readVersionFiles(app, ['.php-version'], 'php'), ...wishes], supported)
}
