// The stages of an image: one that builds, and one with what runs, or with the pages.
import { posix } from 'node:path'
import { quote } from '../../../domain/shell-word.ts'
import {
  appUser,
  arg,
  copyFrom,
  env,
  type Reasoned,
  run,
  type Stage,
  type Step,
  start,
  user,
  workdir,
} from '../../recipe.ts'
import { installPackages } from '../debian.ts'
import { type App, forGenerate, usesPrisma } from './app.ts'
import { findBrowser } from './browsers.ts'
import { execute } from './build-command.ts'
import type { Framework } from './frameworks.ts'
import { findSecrets, installSteps } from './install.ts'
import type { Server } from './plan.ts'
import { listCommands, usesManager } from './start.ts'

const installing = /^(npm|pnpm|yarn|bun) (install|i|ci)\b|^yarn$/

export interface Work {
  app: App
  framework: Framework | null
  build: Reasoned | null
  /** Variables of the service that the build may see. */
  publicKeys: string[]
}

/** The full image has compilers and git, which packages without a prebuilt program need. */
export function buildStage(work: Work, isBun: boolean, prune: string | null): Stage {
  const { app, build, publicKeys, framework } = work
  const { manager } = app
  const isAllBun = isBun && manager.name === 'bun'
  const tools = [isAllBun ? null : manager.package, isBun && !isAllBun ? 'bun@1' : null]
  const browser = findBrowser(app)
  // Yarn's commands fail if its settings name a variable that is not there.
  const secrets = manager.name === 'berry' ? findSecrets(app.workspace.tree) : []
  // An install would leave out, or remove, the packages for development.
  const called = listCommands(app.manifest, build?.command ?? '')
  const installs = called.some((command) => installing.test(command))
  const generates = called.some((command) => command.includes('prisma generate'))
  const buildEnv = { ...(!installs && { NODE_ENV: 'production' }), ...framework?.env }
  const commands = [
    needsGenerate(app, generates)
      ? forGenerate(app, `${inFolder(app)}${execute(manager)} prisma generate`)
      : null,
    build && generates ? forGenerate(app, build.command) : build?.command,
  ]
  return {
    name: 'build',
    from: isAllBun ? `oven/bun:${app.bun.tag}` : `node:${app.node.tag}`,
    steps: [
      workdir('/app'),
      ...installTools(tools.filter((tool) => tool !== null)),
      ...(browser ? [env(browser.buildEnv)] : []),
      ...installSteps(app),
      ...(build ? [...setEnv({ ...buildEnv, ...binPath(app, build.command) }), ...arg(publicKeys)] : []),
      ...commands
        .filter((command) => command != null)
        .map((command) => run(command, { secrets, caches: caches(work) })),
      ...(prune ? [run(prune, { caches: [manager.cache], secrets })] : []),
    ],
  }
}

function setEnv(values: Record<string, string>): Step[] {
  return Object.keys(values).length === 0 ? [] : [env(values)]
}

function inFolder({ folder }: App): string {
  return folder === '' ? '' : `cd ${quote(folder)} && `
}

function caches({ app, framework }: Work): string[] {
  return framework?.cache ? [posix.join('/app', app.folder, framework.cache)] : []
}

export function serverStage(app: App, server: Server, isBun: boolean): Stage {
  const { manager, folder } = app
  const usesOwn = manager.name !== 'npm' && !isBun && usesManager(app.manifest, manager.program, server.start)
  const tools = [...server.tools, ...(usesOwn && manager.package ? [manager.package] : [])]
  const browser = findBrowser(app)
  const packages = [...(usesPrisma(app) ? ['openssl'] : []), ...(browser?.packages ?? [])]
  return {
    name: 'app',
    from: isBun ? `oven/bun:${app.bun.tag}-slim` : `node:${app.node.tag}-slim`,
    steps: [
      ...installPackages(packages),
      ...installTools(tools),
      env({
        NODE_ENV: 'production',
        ...(server.start.startsWith('npm ') && { NPM_CONFIG_UPDATE_NOTIFIER: 'false' }),
        ...binPath(app, server.start),
        ...browser?.env,
        ...server.env,
      }),
      ...copyServer(app, server.files),
      workdir(server.files ? '/app' : posix.join('/app', folder)),
      user,
      start(server.start),
    ],
  }
}

function copyServer({ folder }: App, files: Server['files']): Step[] {
  if (files === null) return [copyFrom('build', ['/app'], '/app', appUser)]
  return Object.entries(files).map(([from, to]) =>
    copyFrom('build', [posix.join('/app', folder, from)], posix.join('/app', to), appUser),
  )
}

export function pagesStage({ folder }: App, output: string): Stage {
  const pages = posix.join('/app', folder, output)
  return { name: 'site', from: 'scratch', steps: [copyFrom('build', [pages], '/site')] }
}

function installTools(tools: string[]): Step[] {
  // Images of older versions have a Yarn already.
  const force = tools.some((tool) => tool.includes('yarn')) ? '--force ' : ''
  return tools.length === 0
    ? []
    : [run(`npm install --global ${force}${tools.join(' ')}`, { caches: ['/root/.npm'] })]
}

/** Commands of packages can be called by their names. */
function binPath({ folder }: App, command: string): Record<string, string> {
  if (/^(node|npm|npx|pnpm|yarn|bun) [^;&|]*$/.test(command)) return {}
  const folders = [...new Set([posix.join('/app', folder), '/app'])]
  return { PATH: [...folders.map((path) => `${path}/node_modules/.bin`), '$PATH'].join(':') }
}

/** The package generates its client when it is installed, unless its manager forbids it. */
function needsGenerate({ tree, manifest }: App, generates: boolean): boolean {
  const hooks = ['postinstall', 'prepare', 'prebuild'].map((name) => manifest.scripts[name] ?? '').join('\n')
  const isDone = generates || listCommands(manifest, hooks).some((one) => one.includes('prisma generate'))
  return '@prisma/client' in manifest.dependencies && !isDone && tree.find(/(^|\/)schema\.prisma$/).length > 0
}
