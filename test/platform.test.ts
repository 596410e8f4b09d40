// What Berth prints on an unsupported platform: one line with what to install, before loading anything else.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { berth, berthd, type Platform, platformProblem } from '../src/platform.ts'
import { programArgs } from './support/daemon/program.ts'
import { importsOf } from './support/tidy/syntax.ts'

const home = fileURLToPath(new URL('..', import.meta.url))

/** A host on which everything loads. */
const debian13: Platform = {
  node: '22.12.0',
  system: 'linux x64',
  load: async () => ({}),
}

test('supported versions run; older releases of each major version do not', async () => {
  for (const node of ['20.19.0', '20.20.2', '22.12.0', '22.23.3', '24.0.0', '24.21.0']) {
    assert.equal(await platformProblem(berthd, { ...debian13, node }), null, node)
    assert.equal(await platformProblem(berth, { ...debian13, node }), null, node)
  }
  const install = 'install Node 20 (20.19 or newer), 22 (22.12 or newer) or 24'
  for (const node of ['14.21.3', '16.20.2', '18.20.8', '20.18.1', '22.11.0']) {
    const output = `Node ${node} is not supported: ${install}`
    assert.equal(await platformProblem(berthd, { ...debian13, node }), output)
    assert.equal(await platformProblem(berth, { ...debian13, node }), output)
  }
})

test('a newer Node runs the command line, but not the daemon with its native packages', async () => {
  const platform = { ...debian13, node: '26.1.0' }
  assert.equal(await platformProblem(berth, platform), null)
  assert.match(
    (await platformProblem(berthd, platform)) ?? '',
    /^Node 26\.1\.0 is not supported: install Node 20 /,
  )
})

test('a package that does not load is reported with its reason and the glibc that it needs', async () => {
  const problem = (message: string) =>
    platformProblem(berthd, {
      ...debian13,
      load: async (name) => {
        if (name === 'lmdb') throw new Error(message)
      },
    })
  const missing = "Cannot find package 'lmdb' imported from /opt/berth/dist/src/main.js"
  assert.equal(await problem(missing), 'the package lmdb is missing: run npm ci')
  const reason = "libc.so.6: version `GLIBC_2.38' not found (required by x.node)"
  const output = (await problem(`This version supports only …\n\n${reason}\n`)) ?? ''
  assert.ok(output.startsWith(`lmdb does not load with Node 22.12.0 on linux x64: ${reason}; `), output)
  assert.match(output, /2\.38 \(Debian 13, Ubuntu 24\.04\) with Node 22 and 24$/)
})

/** Starts a program with a line of code in front. */
function run(name: 'src/main' | 'src/cli/main', before: string) {
  const preload = `--import=data:text/javascript,${encodeURIComponent(before)}`
  const args = [preload, ...programArgs(name), '--version']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  return { status, stdout, stderr }
}

const asNode18 = "Object.defineProperty(process.versions, 'node', { value: '18.20.8' })"
const withoutNatives = `
  process.getBuiltinModule('node:module')._extensions['.node'] = () => {
    throw new Error("libc.so.6: version 'GLIBC_2.99' not found (required by a.node)")
  }`

test('both programs exit with a one-line error on an old Node', () => {
  for (const [name, program, exitCode] of [
    ['src/main', 'berthd', 2],
    ['src/cli/main', 'berth', 1],
  ] as const) {
    const { status, stdout, stderr } = run(name, asNode18)
    assert.deepEqual([status, stdout], [exitCode, ''])
    assert.match(stderr, new RegExp(`^${program}: Node 18\\.20\\.8 is not supported: install Node 20 .*\n$`))
  }
})

test('without native packages the daemon exits with one line, and the command line runs', () => {
  const { status, stdout, stderr } = run('src/main', withoutNatives)
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(stderr, /^berthd: uWebSockets\.js does not load with Node .* 'GLIBC_2\.99' not found .*\n$/)
  assert.equal(run('src/cli/main', withoutNatives).status, 0)
})

test('the entry points load nothing before the check, and use syntax that Node 14 can parse', () => {
  const files = {
    'src/main.ts': ['./platform.ts'],
    'src/cli/main.ts': ['../platform.ts'],
    'src/platform.ts': [],
  }
  for (const [path, wanted] of Object.entries(files)) {
    const text = readFileSync(join(home, path), 'utf8')
    const early = text.split('\n').filter((line) => /^import .*from /.test(line))
    assert.deepEqual(
      importsOf(path, early.join('\n')).map(({ from }) => from),
      wanted,
      path,
    )
    assert.doesNotMatch(text, /\?\?=|\|\|=|&&=|^await |static \{|\.at\(|replaceAll|structuredClone/m, path)
  }
})

test('package.json requires the same versions as the programs', () => {
  const { engines } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  assert.deepEqual(engines, { node: '^20.19 || ^22.12 || ^24' })
})
