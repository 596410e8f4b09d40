// The steps that install the packages: the manifests first, so that a changed source needs no install.
import { posix } from 'node:path'
import { type Choice, copy, env, run, type Step } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { type App, forGenerate } from './app.ts'
import type { Manifest } from './manifest.ts'
import type { Workspace } from './workspace.ts'

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
/** Install scripts that need no more than the manifests. */
const harmless = /^(npx )?(prisma generate|patch-package|husky( install)?|only-allow \w+)$/
const manifests = `package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml
  yarn.lock bun.lock bun.lockb .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml prisma.config.ts`.split(
  /\s+/,
)
/** What patches packages, extends Yarn, or is made into a client of a database at install. */
const extra = /\.(patch|prisma)$|^\.yarn\/(releases|plugins)\//

export function installSteps(app: App): Step[] {
  const { manager, workspace } = app
  const { tree } = workspace
  const isEarly = findEarlySource(app).length > 0
  return [
    ...(Object.keys(manager.env).length > 0 ? [env(manager.env)] : []),
    ...(isEarly ? [copy(['.'], '.')] : copyManifests(workspace)),
    run(forGenerate(app, manager.install), { caches: [manager.cache], secrets: findSecrets(tree) }),
    ...(isEarly ? [] : [copy(['.'], '.')]),
  ]
}

/** Why the install needs all files. */
export function findEarlySource({ workspace: { manifest, members } }: App): Choice[] {
  const reasons = [manifest, ...members.values()].map(findEarlyReason)
  const reason = reasons.find((one) => one !== null)
  return reason ? [{ what: 'all files are there before the install', reason }] : []
}

function findEarlyReason({ name, scripts, dependencies, devDependencies }: Manifest): string | null {
  const isHarmless = (script: string) => script.split('&&').every((part) => harmless.test(part.trim()))
  const script = installScripts.find((one) => scripts[one] && !isHarmless(scripts[one]))
  if (script) return `the ${script} script of ${name ?? 'the app'}`
  const packages = Object.entries({ ...dependencies, ...devDependencies })
  const [local] = packages.find(([, range]) => /^(file|link|portal):/.test(range)) ?? []
  return local ? `${local} is a folder of the source` : null
}

function copyManifests({ tree, members }: Workspace): Step[] {
  const present = manifests.filter((file) => tree.has(file))
  const folders = new Set(tree.find(extra).map((path) => posix.dirname(path)))
  return [
    copy(present, './'),
    ...[...folders].filter((folder) => folder !== '.').map((folder) => copy([folder], `./${folder}`)),
    ...[...members.keys()].map((folder) => copy([`${folder}/package.json`], `./${folder}/`)),
  ]
}

/** Tokens that a registry's settings take from the environment. */
export function findSecrets(tree: Tree): string[] {
  const texts = ['.npmrc', '.yarnrc.yml', 'bunfig.toml'].map((file) => tree.text(file))
  const names = [...texts.join('\n').matchAll(/\$\{?([A-Z][A-Z0-9_]*)\b/g)].map(([, name = '']) => name)
  return [...new Set(names)].filter((name) => name !== 'HOME' && name !== 'PATH')
}
