// Python: its packages in a virtual environment, and what starts it.
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import {
  appUser,
  copy,
  copyFrom,
  type Draft,
  env,
  type Proposal,
  propose,
  type Reasoned,
  type Refusal,
  refuse,
  run,
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
import { copyByFolder } from '../copies.ts'
import { installPackages } from '../debian.ts'
import type { Language } from '../language.ts'
import { findManage, findStaticRoot } from './django.ts'
import type { Miss } from './frameworks.ts'
import { asksForPackages, chooseInstallation, type Installation, readPyproject } from './packages.ts'
import { findStart } from './start.ts'
import { chooseSystem } from './system-packages.ts'

const supported = { tags: ['3.10', '3.11', '3.12', '3.13', '3.14'], usual: '3.13' }
const path = { PATH: '/app/.venv/bin:$PATH' }

export const python: Language = {
  evidence: ['requirements.txt', 'pyproject.toml', 'Pipfile', 'main.py', 'app.py', 'bot.py'],
  isHere,
  draft,
}

/** Others have Python for their tools, so with a package.json both must be clear. */
function isHere(app: Tree): boolean {
  const starts = 'command' in findStart(app, 'web_service')
  return app.has('package.json') ? starts && asksForPackages(app) : starts || asksForPackages(app)
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { app } = facts
  const found = findStart(app, wishes.type)
  const own = 'command' in found ? found : null
  const framework = own?.framework ?? null
  const runs = wishes.start ?? own
  if (runs === null) return refuse((found as Miss).problem, { lookedFor: ['main.py', 'app.py'] })
  const version = pythonVersion(app)
  const installation = chooseInstallation(app)
  const system = chooseSystem(app)
  const build = wishes.build ?? (framework === 'Django' ? collectStatic(app) : null)
  const slim = `python:${version.tag}-slim`
  const assets = chooseAssets(app)
  const isBuilt = installation !== null || build !== null || assets.install !== null
  const buildSteps = [
    ...(system.full ? [] : installPackages(system.debian)),
    workdir('/app'),
    env({ ...path, ...installation?.env }),
    ...(installation ? install(installation) : []),
    ...(assets.install ?? (installation?.manifests === null ? [] : [copy(['.'], '.')])),
    ...(installation?.finish ? [run(installation.finish, { caches: [installation.cache] })] : []),
    ...assets.build,
    ...assets.clean,
    ...(build ? [run(build.command, { secrets: wishes.env })] : []),
  ]
  // Its modules import each other by names without it, as tests do.
  const hasSource = app.find(/^src\/.+\.py$/).length > 0
  const lastSteps = [
    ...installPackages(system.debian),
    ...assets.run,
    isBuilt ? copyFrom('build', ['/app'], '/app', appUser) : copy(['.'], '/app', appUser),
    workdir('/app'),
    env({ ...path, HOME: '/app', PYTHONUNBUFFERED: '1', ...(hasSource && { PYTHONPATH: '/app/src' }) }),
    user,
    start(runs.command),
  ]
  const hasPort = listens(wishes) && (wishes.start !== null || own?.listens === true)
  return {
    title: ['Python', framework].filter(Boolean).join(' with '),
    choices: [
      { what: `python ${version.tag}`, reason: version.reason },
      ...(installation ? [installation.choice] : []),
      ...system.choices,
      ...assets.choices,
      ...[build, runs].flatMap(toChoice),
    ],
    stages: [
      ...assets.stages,
      ...(isBuilt
        ? [{ name: 'build', from: system.full ? `python:${version.tag}` : slim, steps: buildSteps }]
        : []),
      { name: 'app', from: slim, steps: lastSteps },
    ],
    ignore: ['node_modules', '**/__pycache__', '**/*.pyc', '.venv', 'venv', '.pytest_cache'],
    port: hasPort ? 8000 : null,
    proposals: framework === 'Django' ? migration(app) : [],
  }
}

function install({ tool, command, manifests, cache }: Installation): Step[] {
  return [
    ...(tool ? [run(`pip install ${tool}`, { caches: ['/root/.cache/pip'] })] : []),
    ...(manifests ? copyByFolder(manifests) : [copy(['.'], '.')]),
    run(command, { caches: [cache] }),
  ]
}

function pythonVersion(app: Tree): Version {
  const { project, tool } = readPyproject(app)
  const requires = (app.toml('Pipfile').requires ?? {}) as Record<string, unknown>
  const wishes = [
    { text: requires.python_version, reason: 'requires.python_version in Pipfile' },
    { text: project?.['requires-python'], reason: 'requires-python in pyproject.toml' },
    { text: tool?.poetry?.dependencies?.python, reason: 'tool.poetry.dependencies in pyproject.toml' },
  ].flatMap(({ text, reason }) => (typeof text === 'string' ? [{ text, reason: `${text}, ${reason}` }] : []))
  return chooseVersion(
    [...readVersionFiles(app, ['.python-version', 'runtime.txt'], 'python'), ...wishes],
    supported,
  )
}

/** Settings often insist on a key, which signs nothing in the build. */
function collectStatic(app: Tree): Reasoned | null {
  const manage = findManage(app)
  const root = findStaticRoot(app)
  if (manage === null || root === null) return null
  const command = `SECRET_KEY="\${SECRET_KEY:-only-for-the-build}" python ${manage} collectstatic --noinput`
  return root === 'always'
    ? { command, reason: 'STATIC_ROOT in the settings' }
    : { command: `${command} || true`, reason: 'STATIC_ROOT in the settings, under a condition' }
}

function migration(app: Tree): Proposal[] {
  const manage = findManage(app)
  return manage ? [propose(`python ${manage} migrate --noinput`, 'Django has migrations')] : []
}
