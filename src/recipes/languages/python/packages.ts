// The Python packages that a source asks for, and the tool that installs them.
import { posix } from 'node:path'
import type { Choice } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { readVersionFiles } from '../../versions.ts'

export interface Installation {
  /** What pip installs the tool from: `poetry==1.8`. Null if pip itself does the work. */
  tool: string | null
  choice: Choice
  /** The files that must be there before the sources. Null if it needs all of them. */
  manifests: string[] | null
  command: string
  /** Repeated with the sources, for what is a package itself. */
  finish: string | null
  env: Record<string, string>
  cache: string
}

interface Tool {
  lock: string
  /** Installs packages, but not the project. */
  command: string
  withProject: string
  env: Record<string, string>
}

const tools: Record<string, Tool> = {
  uv: {
    lock: 'uv.lock',
    command: 'uv sync --locked --no-dev --no-install-workspace',
    withProject: 'uv sync --locked --no-dev',
    env: { UV_PYTHON: '/usr/local/bin/python', UV_LINK_MODE: 'copy' },
  },
  poetry: {
    lock: 'poetry.lock',
    command: 'poetry install --only main --no-root',
    withProject: 'poetry install --only main',
    env: { POETRY_VIRTUALENVS_IN_PROJECT: '1', POETRY_NO_INTERACTION: '1' },
  },
  pdm: {
    lock: 'pdm.lock',
    command: 'pdm sync --prod --no-self',
    withProject: 'pdm sync --prod',
    env: { PDM_CHECK_UPDATE: 'false' },
  },
  pipenv: {
    lock: 'Pipfile.lock',
    command: 'pipenv sync',
    withProject: 'pipenv sync',
    env: { PIPENV_VENV_IN_PROJECT: '1' },
  },
}

/** Null if there is nothing to install. */
export function chooseInstallation(app: Tree): Installation | null {
  for (const [name, tool] of Object.entries(tools))
    if (app.has(tool.lock)) return byTool(app, name, tool, tool.lock)
  if (app.has('Pipfile')) return byTool(app, 'pipenv', withoutLock('pipenv'), 'Pipfile, without a lock file')
  if (app.has('requirements.txt')) return byRequirements(app)
  const { project, tool = {} } = readPyproject(app)
  if (tool.poetry?.dependencies)
    return byTool(app, 'poetry', withoutLock('poetry'), 'pyproject.toml, without a lock file')
  const isNeeded = readNames(app).size > 0 || isPackage(app)
  return project && isNeeded
    ? byTool(app, 'uv', withoutLock('uv'), 'pyproject.toml, without a lock file')
    : null
}

/** A pyproject.toml may be there for linters alone. */
export function asksForPackages(app: Tree): boolean {
  const { project, tool = {} } = readPyproject(app)
  return app.first('requirements.txt', 'Pipfile') !== null || Boolean(project ?? tool.poetry)
}

/** It resolves the versions at each build. */
function withoutLock(name: 'uv' | 'poetry' | 'pipenv'): Tool {
  const tool = tools[name] as Tool
  const change = (command: string) =>
    command.replace(' --locked', '').replace('pipenv sync', 'pipenv install')
  return { ...tool, command: change(tool.command), withProject: change(tool.withProject) }
}

function byTool(
  app: Tree,
  name: string,
  { lock, command, withProject, env }: Tool,
  reason: string,
): Installation {
  const version = readVersionFiles(app, [], name).find(({ text }) => /^\d[\d.]*$/.test(text))
  const manifest = name === 'pipenv' ? 'Pipfile' : 'pyproject.toml'
  const members = app.find(/(^|\/)pyproject\.toml$/).filter((path) => path !== manifest)
  return {
    tool: version ? `${name}==${version.text}` : name,
    choice: { what: command, reason },
    manifests: hasLocalPackages(app)
      ? null
      : [manifest, ...(app.has(lock) ? [lock] : []), ...(name === 'uv' ? members : [])],
    command,
    finish: isPackage(app) || (name === 'uv' && members.length > 0) ? withProject : null,
    env,
    cache: `/root/.cache/${name === 'poetry' ? 'pypoetry' : name}`,
  }
}

/** Paths that are no members of a workspace. */
function hasLocalPackages(app: Tree): boolean {
  return /\bpath\s*=\s*["']|file:\/\//.test(app.text('pyproject.toml') + app.text('Pipfile'))
}

/** Whether the project is to be installed too: it has scripts, or a package to import. */
function isPackage(app: Tree): boolean {
  const { project, tool = {}, 'build-system': system } = readPyproject(app)
  const name = String(project?.name ?? tool.poetry?.name)
    .toLowerCase()
    .replace(/[-.]+/g, '_')
  const folder = app.first(`src/${name}/__init__.py`, `${name}/__init__.py`)
  return system !== undefined && (folder !== null || tool.poetry?.packages !== undefined)
}

function byRequirements(app: Tree): Installation {
  const files = findRequirements(app)
  const isLocal = files.some((file) => /^\s*(-e|--editable|\.\.?\/|\.$|file:)|@ file:/m.test(app.text(file)))
  return {
    tool: null,
    choice: { what: 'pip install -r requirements.txt', reason: 'requirements.txt' },
    manifests: isLocal ? null : files,
    command: 'python -m venv .venv && pip install -r requirements.txt',
    finish: null,
    env: {},
    cache: '/root/.cache/pip',
  }
}

/** requirements.txt, and what it includes. */
function findRequirements(app: Tree): string[] {
  const files = new Set(app.has('requirements.txt') ? ['requirements.txt'] : [])
  for (const file of files) {
    const includes = app.text(file).matchAll(/^\s*(?:-r|-c|--requirement|--constraint)[ =]*([^\s#]+)/gm)
    for (const [, path = ''] of includes) {
      const included = posix.join(posix.dirname(file), path)
      if (app.has(included)) files.add(included)
    }
  }
  return [...files]
}

/** The packages that the source itself asks for, by normal name, also with extras: `psycopg[binary]`. */
export function readNames(app: Tree): Set<string> {
  const { project, tool = {} } = readPyproject(app)
  const requirements = findRequirements(app).flatMap((file) => app.text(file).split('\n'))
  const members = app.find(/^.+\/pyproject\.toml$/).map((path) => readPyproject(app, path).project)
  const listed = [project, ...members].flatMap((one) => one?.dependencies ?? [])
  const tables = [tool.poetry?.dependencies, app.toml('Pipfile').packages].flatMap((table) =>
    Object.entries((table ?? {}) as Record<string, unknown>).flatMap(([name, value]) => [
      name,
      ...extrasOf(value).map((extra) => `${name}[${extra}]`),
    ]),
  )
  return new Set([...requirements, ...listed, ...tables].flatMap(toNames))
}

function extrasOf(value: unknown): string[] {
  const extras = (value as { extras?: unknown } | null)?.extras
  return Array.isArray(extras) ? extras.filter((extra) => typeof extra === 'string') : []
}

/** `Psycopg[binary]>=3.2` is `psycopg` and `psycopg[binary]`. */
function toNames(requirement: unknown): string[] {
  const [, name, extras] = /^\s*([A-Za-z][\w.-]*)\s*(?:\[([^\]]*)\])?/.exec(String(requirement)) ?? []
  if (name === undefined) return []
  const normal = name.toLowerCase().replace(/[-_.]+/g, '-')
  return [normal, ...(extras?.split(',').map((extra) => `${normal}[${extra.trim()}]`) ?? [])]
}

/** Whether a package is fetched with git. */
export function needsGit(app: Tree): boolean {
  const texts = ['pyproject.toml', 'Pipfile', ...findRequirements(app)].map((file) => app.text(file))
  return /git\+|\bgit\s*=\s*["']/.test(texts.join('\n'))
}

interface Pyproject {
  project?: {
    name?: string
    dependencies?: string[]
    scripts?: Record<string, string>
    'requires-python'?: string
  }
  tool?: { poetry?: { name?: string; packages?: unknown; dependencies?: Record<string, unknown> } }
  'build-system'?: object
}

export function readPyproject(app: Tree, path = 'pyproject.toml'): Pyproject {
  return app.toml(path) as Pyproject
}
