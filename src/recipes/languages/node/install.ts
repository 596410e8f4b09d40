// The steps that install the packages: the manifests first, so that a changed source needs no install.
import { posix } from 'node:path'
import { type Choice, copy, env, run, type Step } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { copyByFolder } from '../copies.ts'
import { type App, forGenerate } from './app.ts'
import type { Manifest } from './manifest.ts'
import type { Workspace } from './workspace.ts'

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
/** Install scripts that need no more than the manifests. */
const harmless = /^(npx )?(prisma generate|patch-package|husky( install)?|only-allow \w+)$/
const manifests = `package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml
  yarn.lock bun.lock bun.lockb .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml
  prisma.config.ts`.split(/\s+/)
/** They may name other files that an install reads. */
const settings = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml']
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
  const programs = [...members].flatMap(([folder, member]) => findPrograms(tree, folder, member))
  return [
    copy(present, './'),
    ...[...folders].filter((folder) => folder !== '.').map((folder) => copy([folder], `./${folder}`)),
    ...[...members.keys()].map((folder) => copy([`${folder}/package.json`], `./${folder}/`)),
    ...copyByFolder(
      [...new Set([...programs, ...findNamed(tree)])].filter((file) => !folders.has(posix.dirname(file))),
    ),
  ]
}

/** A program can be linked only if it is there. */
function findPrograms(tree: Tree, folder: string, { programs, programFolder }: Manifest): string[] {
  const inside = tree.in(folder)
  const named = programs.map((path) => posix.normalize(path)).filter((path) => inside.has(path))
  const all = programFolder ? [...inside.in(posix.normalize(programFolder)).files] : []
  return [...named, ...all.map((path) => posix.join(programFolder ?? '', path))].map((path) =>
    posix.join(folder, path),
  )
}

/** Files of the source that the settings of a package manager name, as `pnpmfile` or `yarnPath`. */
function findNamed(tree: Tree): string[] {
  const words = settings.flatMap((file) => tree.text(file).split(/[\s"'=:,[\]{}]+/))
  const paths = words.filter((word) => /^[\w@.]/.test(word)).map((word) => posix.normalize(word))
  return paths.filter((path) => tree.has(path) && !manifests.includes(path))
}

/** Tokens that a registry's settings take from the environment. */
export function findSecrets(tree: Tree): string[] {
  const texts = ['.npmrc', '.yarnrc.yml', 'bunfig.toml'].map((file) => tree.text(file))
  const names = [...texts.join('\n').matchAll(/\$\{?([A-Z][A-Z0-9_]*)\b/g)].map(([, name = '']) => name)
  return [...new Set(names)].filter((name) => name !== 'HOME' && name !== 'PATH')
}
