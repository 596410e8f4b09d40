// Node.js: a server with a start command.
import type { Facts } from '../facts.ts'
import {
  copy,
  copyFrom,
  type Draft,
  env,
  type Reasoned,
  type Refusal,
  refuse,
  run,
  start,
  user,
  type Wishes,
  workdir,
} from '../recipe.ts'
import type { Tree } from '../tree.ts'
import { chooseVersion, readVersionFiles, type Version } from '../versions.ts'
import type { Language } from './language.ts'

const supported = { tags: ['18', '20', '22', '24', '26'], usual: '24' }
/** Scripts that run at install, and need more than the manifests. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

export const node: Language = { evidence: ['package.json'], isHere: (app) => app.has('package.json'), draft }

function draft({ app }: Facts, wishes: Wishes): Draft | Refusal {
  const scripts = readScripts(app)
  const version = nodeVersion(app)
  const manifests = ['package.json', ...(app.has('package-lock.json') ? ['package-lock.json'] : [])]
  const install = app.has('package-lock.json') ? 'npm ci' : 'npm install'
  const runs = wishes.start ?? ownStart(app, scripts)
  if (runs === null) return refuse('package.json has no start script, and no main file')
  const build =
    wishes.build ??
    (scripts.build ? { command: 'npm run build', reason: 'the build script in package.json' } : null)
  const copiesFirst = installScripts.some((name) => scripts[name])
  const caches = ['/root/.npm']
  return {
    title: 'Node.js',
    choices: [
      { what: `node ${version.tag}`, reason: version.reason },
      { what: install, reason: app.has('package-lock.json') ? 'package-lock.json' : 'there is no lock file' },
      ...(build ? [{ what: build.command, reason: build.reason }] : []),
      { what: runs.command, reason: runs.reason },
    ],
    stages: [
      {
        name: 'build',
        from: `node:${version.tag}-slim`,
        steps: [
          workdir('/app'),
          ...(copiesFirst ? [copy(['.'], '.')] : [copy(manifests, './')]),
          run(install, { caches }),
          ...(copiesFirst ? [] : [copy(['.'], '.')]),
          ...(build ? [run(build.command)] : []),
          run('npm prune --omit=dev'),
        ],
      },
      {
        name: 'app',
        from: `node:${version.tag}-slim`,
        steps: [
          workdir('/app'),
          env({ NODE_ENV: 'production' }),
          copyFrom('build', ['/app'], '/app', '1000:1000'),
          user,
          start(runs.command),
        ],
      },
    ],
    ignore: ['**/node_modules'],
    port: 3000,
  }
}

function readScripts(app: Tree): Record<string, string> {
  const { scripts } = app.json('package.json')
  return typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, string>) : {}
}

function nodeVersion(app: Tree): Version {
  const engines = (app.json('package.json').engines ?? {}) as Record<string, unknown>
  const range = typeof engines.node === 'string' ? engines.node : null
  const wished = range
    ? [{ text: range, reason: `engines.node ${JSON.stringify(range)} in package.json` }]
    : []
  return chooseVersion([...wished, ...readVersionFiles(app, ['.nvmrc', '.node-version'], 'node')], supported)
}

function ownStart(app: Tree, scripts: Record<string, string>): Reasoned | null {
  if (scripts.start) return { command: 'npm start', reason: 'the start script in package.json' }
  const main = app.first('server.js', 'app.js', 'index.js')
  return main ? { command: `node ${main}`, reason: 'the main file' } : null
}
