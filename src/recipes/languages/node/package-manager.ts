// The package manager of a source: which one, in which version, and its commands.

import { LOCKS } from 'package-manager-detector/constants'
import semver from 'semver'
import { quote } from '../../../domain/shell-word.ts'
import type { Choice } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { readVersionFiles } from '../../versions.ts'
import { hasPackage, type Manifest } from './manifest.ts'
import type { Workspace } from './workspace.ts'

export interface PackageManager {
  name: keyof typeof managers
  /** As people call it. */
  program: Program
  version: string
  /** Whether npm may not run the scripts. */
  isStrict: boolean
  choices: Choice[]
  /** What npm gets it from: `pnpm@10`. Null for npm itself. */
  package: string | null
  install: string
  /** Leaves what runs in production. Null if that is not safe. */
  prune: string | null
  cache: string
  env: Record<string, string>
}

/** What leaves the packages for production: `prune` for an app alone, `pruneAll` for a workspace. */
const managers = {
  npm: {
    locked: 'npm ci',
    unlocked: 'npm install',
    prune: 'npm prune --omit=dev --ignore-scripts',
    pruneAll: 'npm prune --omit=dev --ignore-scripts',
    cache: '/root/.npm',
  },
  pnpm: {
    locked: 'pnpm install --frozen-lockfile',
    unlocked: 'pnpm install',
    prune: 'CI=true pnpm prune --prod --ignore-scripts',
    // Packages that are no longer used stay for a week otherwise.
    pruneAll: 'CI=true pnpm install --prod --ignore-scripts --offline --config.modules-cache-max-age=0',
    cache: '/root/.local/share/pnpm/store',
  },
  yarn: {
    locked: 'yarn install --frozen-lockfile',
    unlocked: 'yarn install',
    prune: 'yarn install --production --frozen-lockfile --ignore-scripts --prefer-offline',
    pruneAll: 'yarn install --production --frozen-lockfile --ignore-scripts --prefer-offline',
    cache: '/usr/local/share/.cache/yarn',
  },
  /** Yarn 2 and later. */
  berry: {
    locked: 'yarn install --immutable',
    unlocked: 'yarn install',
    prune: 'yarn workspaces focus --production',
    pruneAll: 'yarn workspaces focus --all --production',
    cache: '/root/.yarn/berry/cache',
  },
  bun: {
    locked: 'bun install --frozen-lockfile',
    unlocked: 'bun install',
    prune: 'rm -rf node_modules && bun install --production --frozen-lockfile --ignore-scripts',
    pruneAll: null,
    cache: '/root/.bun/install/cache',
  },
} as const

type Program = 'pnpm' | 'bun' | 'yarn' | 'npm'
/** If there are lock files of several, the first of these is taken. */
const programs: Program[] = ['pnpm', 'bun', 'yarn', 'npm']

export function chooseManager(workspace: Workspace): PackageManager {
  const { tree, manifest, members } = workspace
  const locks = Object.keys(LOCKS).filter((file) => tree.has(file))
  const { program, version, reason } = chooseProgram(tree, manifest, locks)
  const name = program === 'yarn' && isBerry(tree, version) ? 'berry' : program
  const { locked, unlocked, cache, ...pruning } = managers[name]
  const prune = members.size === 0 ? pruning.prune : pruning.pruneAll
  const isLocked = locks.some((file) => LOCKS[file] === program && file !== 'pnpm-workspace.yaml')
  const wished = chooseManagerVersion(name, program, version, tree)
  const others = locks.filter((file) => LOCKS[file] !== program)
  return {
    name,
    program,
    version: wished,
    isStrict: manifest.manager?.isStrict ?? false,
    package: name === 'npm' ? null : quote(packageOf(name, wished, tree)),
    install: isLocked ? locked : unlocked,
    prune: isPrunable(name, wished, workspace) ? prune : null,
    cache,
    // Its other ways to link packages would need Yarn where the app runs.
    env: name === 'berry' ? { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_GLOBAL_CACHE: 'true' } : {},
    choices: [
      { what: name === 'npm' ? 'npm' : `${program} ${wished}`, reason },
      ...(isLocked
        ? []
        : [{ what: unlocked, reason: `there is no lock file of ${program}, so versions may change` }]),
      ...others.map((file) => ({ what: `without ${file}`, reason: `${program} installs the packages` })),
    ],
  }
}

interface ChosenProgram {
  program: Program
  /** A version or a range. Empty if none is named. */
  version: string
  reason: string
}

function chooseProgram(tree: Tree, manifest: Manifest, locks: string[]): ChosenProgram {
  const { manager, engines } = manifest
  const named = programs.find((program) => program === manager?.name)
  if (manager && named) return { program: named, version: manager.version, reason: manager.reason }
  const locked = programs.find((program) => locks.some((file) => LOCKS[file] === program))
  const lock = locks.find((file) => LOCKS[file] === locked)
  const asked = programs.find((program) => program !== 'npm' && engines[program])
  const program = locked ?? asked ?? (isForBun(tree, manifest) ? 'bun' : 'npm')
  const version = engines[program] ?? ''
  if (lock) return { program, version, reason: lock }
  if (asked) return { program, version, reason: `engines.${asked} "${version}" in package.json` }
  return { program, version, reason: program === 'bun' ? 'its types are installed' : 'it comes with Node.js' }
}

function isForBun(tree: Tree, manifest: Manifest): boolean {
  return tree.has('bunfig.toml') || ['bun-types', '@types/bun'].some((types) => hasPackage(manifest, types))
}

function isBerry(tree: Tree, version: string): boolean {
  if (version) return !/^\D*[01]\b/.test(version)
  return tree.has('.yarnrc.yml') || /^__metadata:/m.test(tree.text('yarn.lock'))
}

/** Of a range, the version that fits the lock file. */
function chooseManagerVersion(
  name: PackageManager['name'],
  program: Program,
  wish: string,
  tree: Tree,
): string {
  const [, released = ''] = /^yarnPath:.*yarn-(\d[\w.]*)\.c?js/m.exec(tree.text('.yarnrc.yml')) ?? []
  const files = program === 'bun' ? ['.bun-version'] : []
  const wishes = [wish, released, ...readVersionFiles(tree, files, program).map(({ text }) => text)]
  const guess = guessVersion(name, tree)
  const range = wishes.find((text) => text !== '' && semver.validRange(text))
  if (range === undefined) return guess
  return semver.valid(range) || !semver.intersects(range, guess) ? range : guess
}

/** Yarn 1 starts the release that `yarnPath` names. */
function packageOf(name: PackageManager['name'], version: string, tree: Tree): string {
  if (name !== 'berry') return `${name}@${version}`
  return /^yarnPath:/m.test(tree.text('.yarnrc.yml')) ? 'yarn@1' : `@yarnpkg/cli-dist@${version}`
}

/** By the format of its lock file. */
function guessVersion(name: PackageManager['name'], tree: Tree): string {
  const [, format = ''] =
    /(?:lockfileVersion|^ +version): '?(\d+)/m.exec(
      tree.text(name === 'pnpm' ? 'pnpm-lock.yaml' : 'yarn.lock'),
    ) ?? []
  const settings = tree.text('pnpm-workspace.yaml')
  switch (name) {
    case 'pnpm':
      if (/^allowBuilds:/m.test(settings)) return '11'
      if (format === '5') return '7'
      if (format === '6') return '8'
      if (format === '') return '10'
      // Before 10, this file named the packages and nothing else.
      return /^(?!packages:)\w+:/m.test(settings) ? '10' : '9'
    case 'berry':
      return { 4: '2', 5: '2', 6: '3' }[Number(format)] ?? '4'
    default:
      return '1'
  }
}

/** Yarn 2 and 3 need a plugin for it, and Bun would lose what install scripts made. */
function isPrunable(name: PackageManager['name'], version: string, { manifest }: Workspace): boolean {
  if (name === 'berry') return !/^[23]\b/.test(version)
  return name !== 'bun' || manifest.trusted.length === 0
}
