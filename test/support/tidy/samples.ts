// For each rule a tree that keeps it and trees that break it, with what the rule must say about them.
import { lineBudget } from './line-budget.ts'
import type { RuleName } from './rules.ts'
import { wordingSamples } from './wording-samples.ts'

type Files = Record<string, string>

export interface Sample {
  clean: Files
  broken: { files: Files; says: string[] }[]
}

const { product, dashboard } = lineBudget

const broken = (files: Files, ...says: string[]) => ({ files, says })

const wholeKind = {
  'machines/index.ts': "export const catalogue = { 'job-run': {} } satisfies object",
  'machines/job-run.ts': "import { setup } from 'xstate'",
  'src/effects/job-run.ts': '',
  'test/machines/job-run.test.ts': '',
  'machines/README.md': '# Kinds\n## The kinds\n- **job run**: one run of a command\n## Else\n',
}

const lacksB = 'package-lock.json:1 lacks b, which a may want'

export const samples: Record<RuleName, Sample> = {
  'folders import only what the architecture allows': {
    clean: {
      'machines/deploy.ts': "import { setup } from 'xstate'\nimport type { A } from './job-run.ts'",
      'src/http/routes/deploys.ts': "import type { Actors } from '../../supervisor/supervisor.ts'",
      'src/docker/engine/names.ts':
        "// import 'xstate'\nexport const text = \"import 'xstate'\"\nimport { join } from 'node:path'",
      'src/daemon/daemon.ts': "import { openStorage } from '../storage/index.ts'",
      'machines/job-run.ts': "import { slot } from './slot.ts'",
    },
    broken: [
      broken(
        { 'machines/deploy.ts': "import { join } from 'node:path'" },
        'machines/deploy.ts:1 may not import node:path',
      ),
      broken(
        { 'machines/deploy.ts': "\nimport { other } from './job-run.ts'" },
        'machines/deploy.ts:2 may not import ./job-run.ts other than as `import type`',
      ),
      broken(
        { 'storage/actors.ts': "import { x } from '../src/errors.ts'" },
        'storage/actors.ts:1 may not import ../src/errors.ts',
      ),
      broken(
        { 'src/docker/a.ts': "export { x } from '../git/b.ts'" },
        'src/docker/a.ts:1 may not import ../git/b.ts',
      ),
      broken({ 'src/http/a.ts': "type A = import('lmdb').A" }, 'src/http/a.ts:1 may not import lmdb'),
      broken(
        { 'src/effects/a.ts': "await import('../http/b.ts')" },
        'src/effects/a.ts:1 may not import ../http/b.ts',
      ),
      broken(
        { 'src/http/a.ts': "import { type Actors } from '../supervisor/supervisor.ts'" },
        'src/http/a.ts:1 may not import ../supervisor/supervisor.ts other than as `import type`',
      ),
      broken({ 'src/extras/a.ts': '' }, 'src/extras/a.ts:1 has no line in the table of borders'),
    ],
  },
  'imports have no cycles, type-only imports included': {
    clean: {
      'src/a.ts': "import './b.ts'\nimport type { C } from './c.ts'",
      'src/b.ts': "import './c.ts'",
      'src/c.ts': "import 'node:fs'",
      'test/a.ts': "import './b.ts'",
      'test/b.ts': "import './a.ts'",
    },
    broken: [
      broken(
        { 'src/a.ts': "import './b.ts'", 'src/b.ts': "import type { A } from './a.ts'" },
        'src/a.ts:1 is in an import cycle: src/a.ts -> src/b.ts -> src/a.ts',
      ),
      broken(
        {
          'src/a.ts': "import './b.ts'",
          'src/b.ts': "export type { C } from './c.ts'",
          'src/c.ts': "import './b.ts'\nimport './d.ts'",
          'src/d.ts': "type B = import('./b.ts').B",
          'src/e.ts': "import './e.ts'",
        },
        'src/b.ts:1 is in an import cycle: src/b.ts -> src/c.ts -> src/b.ts',
        'src/e.ts:1 is in an import cycle: src/e.ts -> src/e.ts',
      ),
    ],
  },
  'text of strangers is parsed by readers': {
    clean: {
      'src/readers/tasks.ts': "import { readRecipe } from '../recipes/index.ts'",
      'src/builders/recipe/recipe.ts': "import { printDockerfile } from '../../recipes/index.ts'",
      'storage/env.ts': "const row = JSON.parse('{}')",
    },
    broken: [
      broken(
        { 'src/builders/recipe/recipe.ts': "import { readFacts } from '../../recipes/index.ts'" },
        'src/builders/recipe/recipe.ts:1 only readers load ../../recipes/index.ts',
      ),
      broken(
        { 'src/http/a.ts': "import { decideOnPaths } from '../domain/watched-paths.ts'" },
        'src/http/a.ts:1 only readers load ../domain/watched-paths.ts',
      ),
      broken({ 'src/http/a.ts': "import { parse } from 'yaml'" }, 'src/http/a.ts:1 only readers load yaml'),
      broken(
        { 'src/http/a.ts': 'const body = JSON.parse(text)' },
        'src/http/a.ts:1 parses JSON on the event loop: use readBody or readAnswer',
      ),
    ],
  },
  'each library with side effects is loaded in one place': {
    clean: {
      'storage/store/store.ts': "import { open } from 'lmdb'",
      'src/docker/containers/spec.ts': "import type { ContainerCreateOptions } from 'dockerode'",
      'src/supervisor/supervisor.ts': "import { createActor } from 'xstate'",
      'machines/deploy.ts': "import { setup } from 'xstate'",
    },
    broken: [
      broken(
        { 'storage/env.ts': "import { open } from 'lmdb'" },
        'storage/env.ts:1 only storage/store/store.ts loads lmdb',
      ),
      broken(
        { 'src/docker/containers/spec.ts': "import Docker from 'dockerode'" },
        'src/docker/containers/spec.ts:1 only src/docker/engine/client.ts loads dockerode',
      ),
      broken(
        { 'machines/a.ts': "import { createActor } from 'xstate'" },
        'machines/a.ts:1 only src/supervisor/ loads createActor',
      ),
      broken(
        { 'machines/a.ts': "import * as x from 'xstate'" },
        'machines/a.ts:1 only src/supervisor/ loads createActor',
      ),
    ],
  },
  'the daemon is wired once': {
    clean: {
      'src/berthd.ts': "import { startDaemon } from './daemon/daemon.ts'",
      'test/a.test.ts': "import '../src/daemon/daemon.ts'",
    },
    broken: [
      broken(
        { 'src/cli/a.ts': "import '../daemon/daemon.ts'" },
        'src/cli/a.ts:1 only berthd.ts and tests import the daemon',
      ),
    ],
  },
  'a line has at most 110 columns': {
    clean: { 'src/a.ts': `// ${'ä'.repeat(107)}\n` },
    broken: [
      broken({ 'src/a.ts': `\n// ${'a'.repeat(108)}\n` }, 'src/a.ts:2 is 111 columns wide, the limit is 110'),
    ],
  },
  'README has at most 120 lines and 10 KiB': {
    clean: { 'README.md': `${'\n'.repeat(119)}${'ä'.repeat(5060)}` },
    broken: [
      broken({ 'README.md': 'ä'.repeat(5121) }, 'README.md:1 is 10242 bytes long, the limit is 10240'),
      broken({ 'README.md': '\n'.repeat(121) }, 'README.md:121 is 121 lines long, the limit is 120'),
      broken({}, 'README.md:1 is missing'),
    ],
  },
  'the product is within its line budget': {
    clean: {
      'src/a.ts': '\n'.repeat(product),
      'src/dashboard/a.tsx': '\n'.repeat(dashboard),
      'test/a.ts': '\n'.repeat(99),
    },
    broken: [
      broken(
        { 'src/a.ts': '\n'.repeat(product), 'storage/a.ts': 'a\n' },
        `src:1 has ${product + 1} lines with machines and storage, the budget is ${product}`,
      ),
      broken(
        { 'src/dashboard/a.ts': '\n'.repeat(dashboard + 1) },
        `src/dashboard:1 has ${dashboard + 1} lines, the budget is ${dashboard}`,
      ),
    ],
  },
  'nothing is exported as default': {
    clean: { 'src/a.ts': 'export const defaults = 1', 'src/dashboard/a.ts': 'export default 1' },
    broken: [
      broken({ 'src/a.ts': 'export default 1' }, 'src/a.ts:1 default export'),
      broken({ 'src/a.ts': 'const a = 1\nexport { a as default }' }, 'src/a.ts:2 default export'),
    ],
  },
  'only index files export all of another module': {
    clean: { 'src/docker/index.ts': "export * from './a.ts'", 'src/a.ts': "export { a } from './b.ts'" },
    broken: [broken({ 'src/a.ts': "export * from './b.ts'" }, 'src/a.ts:1 `export *` outside an index file')],
  },
  'no type is `any`': {
    clean: { 'src/a.ts': "const any: unknown = 'any' // any" },
    broken: [broken({ 'src/a.ts': 'const a: Record<string, any> = {}' }, 'src/a.ts:1 `any`')],
  },
  'no array literal spreads another array literal': {
    clean: { 'src/a.ts': "const a = ['a', ...b, ...(c ? ['d'] : [])]" },
    broken: [
      broken(
        { 'src/a.ts': "const a = [\n...['a', 'b'],\n...['c']]" },
        'src/a.ts:2 spreads an array literal: list its elements',
        'src/a.ts:3 spreads an array literal: list its elements',
      ),
    ],
  },
  'no object literal spreads another object literal': {
    clean: { 'src/a.ts': 'const a = { a: 1, ...b, ...(c ? { d: 2 } : {}) }' },
    broken: [
      broken(
        { 'src/a.ts': 'const a = {\n...{ a: 1, b: 2 },\n...{ c: 3 } }' },
        'src/a.ts:2 spreads an object literal: list its properties',
        'src/a.ts:3 spreads an object literal: list its properties',
      ),
    ],
  },
  'no comment silences the compiler': {
    clean: { 'src/a.ts': "const text = '// @ts-ignore'" },
    broken: [
      broken({ 'src/a.ts': '\n// @ts-ignore\nlet a' }, 'src/a.ts:2 silences the compiler'),
      broken({ 'src/a.ts': '/* @ts-expect-error: no */ let a' }, 'src/a.ts:1 silences the compiler'),
    ],
  },
  'nothing runs in a shell': {
    clean: {
      'src/a.ts': "import { spawn } from 'child_process'\nspawn('git', ['sh'], { shell: false })",
      'src/b.ts': 'const match = /a/.exec(text)',
    },
    broken: [
      broken(
        { 'src/a.ts': "import { exec } from 'child_process'" },
        'src/a.ts:1 `exec` of node:child_process',
      ),
      broken({ 'src/a.ts': "import * as c from 'child_process'" }, 'src/a.ts:1 `*` of node:child_process'),
      broken({ 'src/a.ts': "spawn('git', [], { shell: true })" }, 'src/a.ts:1 `shell` other than false'),
      broken({ 'src/a.ts': "run('/bin/sh', ['-c', `x ${y}`])" }, 'src/a.ts:1 starts /bin/sh'),
      broken({ 'src/a.ts': "execFile('env', ['bash', '-c', x])" }, 'src/a.ts:1 starts bash'),
    ],
  },
  'charts know neither clock nor chance': {
    clean: { 'machines/a.ts': 'const at = new Date(event.at) // Date.now()', 'src/a.ts': 'Date.now()' },
    broken: [
      broken({ 'machines/a.ts': 'const a = Date.now()' }, 'machines/a.ts:1 `Date.now`'),
      broken({ 'machines/a.ts': '\nconst a = Math.random()' }, 'machines/a.ts:2 `Math.random`'),
      broken({ 'machines/a.ts': 'const a = new Date()' }, 'machines/a.ts:1 `new Date()`'),
    ],
  },
  'the top level is fixed': {
    clean: { 'src/main.ts': '', 'README.md': '', '.ci/run': '' },
    broken: [
      broken({ 'notes/a.md': '', 'notes/b.md': '' }, 'notes:1 does not belong at the top level'),
      broken({ Makefile: '' }, 'Makefile:1 does not belong at the top level'),
    ],
  },
  'every folder is named after what is in it': {
    clean: { 'src/http/routes/services.ts': '' },
    broken: [
      broken({ 'src/utils/a.ts': '' }, 'utils:1 is a folder for anything: name what is in it'),
      broken({ 'test/support/common/a.ts': '' }, 'common:1 is a folder for anything: name what is in it'),
    ],
  },
  'an index file is inside its folder': {
    clean: { 'src/edge/edge.ts': '', 'src/edge/a/b.ts': '', 'test/run.ts': '', 'test/run/a.ts': '' },
    broken: [broken({ 'src/edge.ts': '', 'src/edge/a/b.ts': '' }, 'src/edge.ts:1 belongs into src/edge/')],
  },
  'every actor kind has its chart, effects, test and word': {
    clean: wholeKind,
    broken: [
      broken({}, 'machines/index.ts:1 exports no object `catalogue`'),
      broken(
        { 'machines/index.ts': wholeKind['machines/index.ts'] },
        'machines/index.ts:1 the kind job-run lacks machines/job-run.ts',
        'machines/index.ts:1 the kind job-run lacks src/effects/job-run.ts',
        'machines/index.ts:1 the kind job-run lacks test/machines/job-run.test.ts',
        'machines/index.ts:1 the kind job-run lacks a line in the list of machines/README.md',
      ),
      broken(
        { ...wholeKind, 'machines/README.md': '- job-run: outside the list\n## The kinds\n- **deploy**' },
        'machines/index.ts:1 the kind job-run lacks a line in the list of machines/README.md',
      ),
      broken(
        { ...wholeKind, 'machines/stray.ts': "import { setup } from 'xstate'" },
        'machines/stray.ts:1 is a chart that the catalogue does not list',
      ),
    ],
  },
  'the lock file names what every platform may want': {
    clean: { 'package-lock.json': '{"packages":{"a":{"optionalDependencies":{}}}}' },
    broken: [
      broken({ 'package-lock.json': '{"packages":{"a":{"optionalDependencies":{"b":"1"}}}}' }, lacksB),
    ],
  },
  'dependencies are pinned': {
    clean: { 'package.json': '{ "dependencies": { "a": "1.2.3", "b": "npm:@c/d@1.0.0-rc.1" } }' },
    broken: [
      broken(
        { 'package.json': '{ "dependencies": { "a": "^1.2.3" } }' },
        'package.json:1 a is wanted as ^1.2.3: pin it',
      ),
      broken(
        { 'package.json': '{\n"devDependencies": {\n"a": "latest" } }' },
        'package.json:3 a is wanted as latest: pin it',
      ),
    ],
  },
  'the manual says what each dependency is for': {
    clean: {
      'package.json': '{ "dependencies": { "lmdb": "1.0.0", "@a/b": "1.0.0", "@types/x": "1.0.0" } }',
      'docs/development.md': '| package | for |\n|---|---|\n| `lmdb`, `@a/b` | storage |\n',
    },
    broken: [
      broken(
        {
          'package.json': '{ "dependencies": { "lmdb": "1.0.0" } }',
          'docs/development.md': 'lmdb\n| storage | lmdb |',
        },
        'package.json:1 docs/development.md does not say what lmdb is for',
      ),
    ],
  },
  ...wordingSamples,
}
