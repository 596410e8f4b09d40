// Which package manager installs, in which version, and why.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, instructionsOf } from '../../support/recipes/recipe-of.ts'

const start = { scripts: { start: 'node server.js' } }
const built = { ...start, devDependencies: { typescript: '5' } }

const cases: { when: string; files: Record<string, string | object>; runs: string[]; because: string }[] = [
  {
    when: 'package-lock.json',
    files: { 'package.json': built, 'package-lock.json': '' },
    runs: ['npm ci', 'npm prune --omit=dev --ignore-scripts'],
    because: 'npm: package-lock.json',
  },
  {
    when: 'no lock file',
    files: { 'package.json': start },
    runs: ['npm install'],
    because: 'npm install: there is no lock file of npm, so versions may change',
  },
  {
    when: 'packageManager with a hash',
    files: { 'package.json': { ...built, packageManager: 'pnpm@10.4.1+sha512.ab' }, 'pnpm-lock.yaml': '' },
    runs: [
      'npm install --global pnpm@10.4.1',
      'pnpm install --frozen-lockfile',
      'CI=true pnpm prune --prod --ignore-scripts',
    ],
    because: 'pnpm 10.4.1: packageManager "pnpm@10.4.1" in package.json',
  },
  {
    when: 'a lock file of pnpm 8',
    files: { 'package.json': start, 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" },
    runs: ['npm install --global pnpm@8', 'pnpm install --frozen-lockfile'],
    because: 'pnpm 8: pnpm-lock.yaml',
  },
  {
    when: 'settings that pnpm 10 introduced',
    files: {
      'package.json': start,
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'pnpm-workspace.yaml': 'onlyBuiltDependencies:\n  - sharp\n',
    },
    runs: ['npm install --global pnpm@10', 'pnpm install --frozen-lockfile'],
    because: 'pnpm 10: pnpm-lock.yaml',
  },
  {
    when: 'a range that the shell would read',
    files: { 'package.json': { ...start, engines: { pnpm: '>=99' } } },
    runs: ["npm install --global 'pnpm@>=99'", 'pnpm install'],
    because: 'pnpm >=99: engines.pnpm ">=99" in package.json',
  },
  {
    when: 'a lock file of Yarn 1',
    files: { 'package.json': built, 'yarn.lock': '# yarn lockfile v1\n' },
    runs: [
      'npm install --global --force yarn@1',
      'yarn install --frozen-lockfile',
      'yarn install --production --frozen-lockfile --ignore-scripts --prefer-offline',
    ],
    because: 'yarn 1: yarn.lock',
  },
  {
    when: 'a lock file of Yarn 4',
    files: { 'package.json': built, 'yarn.lock': '# made by yarn\n\n__metadata:\n  version: 8\n' },
    runs: [
      'npm install --global --force @yarnpkg/cli-dist@4',
      'yarn install --immutable',
      'yarn workspaces focus --production',
    ],
    because: 'yarn 4: yarn.lock',
  },
  {
    when: 'a release of Yarn in the source',
    files: {
      'package.json': built,
      'yarn.lock': '__metadata:\n  version: 6\n',
      '.yarnrc.yml': 'yarnPath: .yarn/releases/yarn-3.8.7.cjs\n',
      '.yarn/releases/yarn-3.8.7.cjs': '',
    },
    runs: ['npm install --global --force yarn@1', 'yarn install --immutable'],
    because: 'yarn 3.8.7: yarn.lock',
  },
  {
    when: 'a lock file of Bun',
    files: { 'package.json': built, 'bun.lock': '' },
    runs: [
      'npm install --global bun@1',
      'bun install --frozen-lockfile',
      'rm -rf node_modules && bun install --production --frozen-lockfile --ignore-scripts',
    ],
    because: 'bun 1: bun.lock',
  },
  {
    when: 'several lock files',
    files: { 'package.json': start, 'package-lock.json': '', 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
    runs: ['npm install --global pnpm@9', 'pnpm install --frozen-lockfile'],
    because: 'without package-lock.json: pnpm installs the packages',
  },
]

for (const { when, files, runs, because } of cases) {
  test(`${when} decides how packages are installed`, () => {
    const commands = instructionsOf({ files }).filter((line) => line.startsWith('RUN '))
    assert.deepEqual(
      commands.map((line) => line.slice(4)),
      runs,
    )
    assert.ok(choicesOf({ files }).includes(because), choicesOf({ files }).join('\n'))
  })
}
