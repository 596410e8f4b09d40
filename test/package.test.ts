// The content of the npm package: the compiled product and its documents, but no sources or tests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { copyRepository, papers } from './package/repository.ts'
import { product } from './support/daemon/compile.ts'
import { fileScope } from './support/daemon/scope.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const home = fileURLToPath(new URL('..', import.meta.url))

function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(home, folder), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Without scripts, because `prepack` builds into the current folder. */
function packedFiles(directory: string): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline', '--loglevel=error']
  const { stdout, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8', timeout: 120_000 })
  assert.ok(stdout.startsWith('['), stderr)
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  return packed.files.map(({ path }) => path).toSorted()
}

const directory = temporaryDirectory(fileScope())
before(() => copyRepository(directory))

test('the package contains each program and document, and nothing else', () => {
  mkdirSync(join(directory, 'test'))
  writeFileSync(join(directory, 'test/a.test.ts'), '')
  writeFileSync(join(directory, '.env'), 'TOKEN=secret')

  const packed = packedFiles(directory)

  const isCompiled = (path: string) => path.endsWith('.ts') && !path.includes('/src/dashboard/')
  const compiled = product.flatMap(filesBelow).filter(isCompiled)
  const wanted = [
    ...compiled.map((path) => join('dist', path.slice(home.length)).replace(/\.ts$/, '.js')),
    ...['docs', 'systemd', 'dist/dashboard'].flatMap(filesBelow).map((path) => path.slice(home.length)),
    ...papers,
  ]
  assert.deepEqual(packed, wanted.toSorted())
})

test('command line options are not consumed by Node', () => {
  const program = join(directory, 'dist/src/cli/main.js')
  // As npm does it.
  chmodSync(program, 0o755)
  writeFileSync(join(directory, '.env'), 'NODE_OPTIONS=--no-such-option')

  for (const file of ['-', '.env', 'missing']) {
    const args = ['create', 'web', '--server', 'http://127.0.0.1:9', '--env-file', file]
    const { stderr } = spawnSync(program, args, {
      cwd: directory,
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    })
    assert.match(stderr, file === 'missing' ? /cannot read missing/ : /cannot reach the server/)
  }
})
