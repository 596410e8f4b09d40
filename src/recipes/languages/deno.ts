// Deno: a server by its start task or its main file, and pages that a task builds.
import { listens } from '../../domain/service-types.ts'
import type { Facts } from '../facts.ts'
import { toTexts } from '../json.ts'
import {
  appUser,
  copy,
  copyFrom,
  type Draft,
  env,
  type Reasoned,
  type Refusal,
  refuse,
  run,
  type Stage,
  start,
  user,
  type Wishes,
  workdir,
} from '../recipe.ts'
import type { Tree } from '../tree.ts'
import { chooseVersion, readVersionFiles } from '../versions.ts'
import type { Language } from './language.ts'

const supported = { tags: ['1', '2'], usual: '2' }
/** Where Deno.serve listens without a wish. */
const usualPort = 8000
const manifests = ['deno.json', 'deno.jsonc', 'deno.lock', 'package.json']
const foreignLocks = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb']
const mains = ['main', 'server', 'app', 'mod', 'index'].flatMap((name) =>
  ['', 'src/'].flatMap((folder) => ['ts', 'tsx', 'js', 'mjs'].map((ending) => `${folder}${name}.${ending}`)),
)

export const deno: Language = {
  evidence: ['deno.json', 'deno.jsonc'],
  isHere: (app) => app.first('deno.json', 'deno.jsonc') !== null && app.first(...foreignLocks) === null,
  draft,
}

function draft({ app }: Facts, wishes: Wishes): Draft | Refusal {
  const tasks = toTexts(app.json(app.first('deno.json', 'deno.jsonc') ?? '').tasks)
  const version = chooseVersion(readVersionFiles(app, ['.dvmrc'], 'deno'), supported)
  const build: Reasoned | null =
    wishes.build ??
    (tasks.build ? { command: 'deno task build', reason: 'the build task in deno.json' } : null)
  const choices = [
    { what: `deno ${version.tag}`, reason: version.reason },
    ...(build ? [{ what: build.command, reason: build.reason }] : []),
  ]
  const from = `denoland/deno:${version.tag}`
  const task = withoutWatch(app, tasks.start ?? '')
  const stage = buildStage(app, from, task, build)
  if (wishes.publishDir !== null)
    return {
      title: 'Deno',
      choices: [
        ...choices,
        { what: `the pages in ${wishes.publishDir} are served`, reason: 'publish_dir of the service' },
      ],
      stages: [
        stage,
        { name: 'site', from: 'scratch', steps: [copyFrom('build', [`/app/${wishes.publishDir}`], '/site')] },
      ],
      site: { folder: '/site', fallback: false },
    }
  const runs = wishes.start ?? ownStart(app, tasks.start, task)
  if (runs === null)
    return refuse('deno.json has no start task, and there is no main.ts', { lookedFor: ['main.ts'] })
  return {
    title: 'Deno',
    choices: [...choices, { what: runs.command, reason: runs.reason }],
    stages: [
      stage,
      {
        name: 'app',
        from,
        steps: [
          env({ DENO_DIR: '/app/.deno', DENO_NO_UPDATE_CHECK: '1' }),
          copyFrom('build', ['/app'], '/app', appUser),
          workdir('/app'),
          user,
          start(runs.command),
        ],
      },
    ],
    port: listens(wishes) ? usualPort : null,
  }
}

/** What the app imports is in the image, because it is fetched before it is needed. */
function buildStage(app: Tree, from: string, task: string, build: Reasoned | null): Stage {
  const [named = ''] = /[\w./-]+\.[cm]?[jt]sx?\b/.exec(task) ?? []
  const main = app.first(named.replace(/^\.\//, ''), ...mains)
  const hasMap = app.json(app.first('deno.json', 'deno.jsonc') ?? '').importMap !== undefined
  const present = hasMap ? ['.'] : manifests.filter((file) => app.has(file))
  return {
    name: 'build',
    from,
    steps: [
      workdir('/app'),
      env({ DENO_DIR: '/app/.deno' }),
      ...(from.includes(':1') ? [] : [copy(present, './'), run('deno install')]),
      copy(['.'], '.'),
      ...(main ? [run(`deno cache ${main}`)] : []),
      ...(build ? [run(build.command)] : []),
    ],
  }
}

/** A task that watches is for development, as that of Fresh 1, which has another main file then. */
function withoutWatch(app: Tree, task: string): string {
  const quiet = task.replace(/ --watch\S*/, '')
  return quiet !== task && app.has('main.ts') ? quiet.replace(/\bdev\.ts$/, 'main.ts') : quiet
}

function ownStart(app: Tree, task: string | undefined, command: string): Reasoned | null {
  if (task)
    return { command: command === task ? 'deno task start' : command, reason: 'the start task in deno.json' }
  const main = app.first(...mains)
  const permissions = '--allow-net --allow-env --allow-read'
  return main === null
    ? null
    : { command: `deno run ${permissions} ${main}`, reason: 'a usual name for the main file' }
}
