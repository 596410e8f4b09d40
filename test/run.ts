// The program behind `npm test`: prepares the machine once, then hands over to node's own test runner.
//   npm test                       everything
//   npm test -- deploy edge        the files whose path contains one of the words
//   npm test -- --test-name-pattern=restart deploy    options go to node as they are
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile, product } from './support/daemon/compile.ts'
import { compiledVariable } from './support/daemon/program.ts'
import { requireBuilder } from './support/docker/builder.ts'
import { ensureEngine } from './support/docker/engine.ts'
import { baseImages } from './support/docker/images.ts'
import { MissingPrerequisite } from './support/system/missing-prerequisite.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const fileTimeoutMs = 10 * 60_000
/** Started first: they mostly wait, and would leave the machine idle at the end. */
const first = ['test/soak.test.ts', 'test/faults/engine.test.ts']

async function main(args: string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith('-'))
  const files = chooseFiles(args.filter((arg) => !arg.startsWith('-')))
  if (files.length === 0) throw new MissingPrerequisite(`No test file is called like ${args.join(' or ')}.`)
  const directory = mkdtempSync(join(tmpdir(), 'berth-tests-'))
  try {
    const [engine] = await Promise.all([prepareDocker(), compile(directory, product)])
    return await runTests({ engine, directory }, options, files)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function prepareDocker(): Promise<string> {
  const engine = await ensureEngine()
  await requireBuilder(engine)
  await baseImages()
  return engine
}

// Node 20 does not expand patterns.
function chooseFiles(words: string[]): string[] {
  const entries = readdirSync(join(repositoryRoot, 'test'), { recursive: true, encoding: 'utf8' })
  const files = entries.filter((name) => name.endsWith('.test.ts')).map((name) => join('test', name))
  const wanted = words.map((word) => relative(repositoryRoot, word))
  if (words.length === 0) return inOrder(files)
  return inOrder(files.filter((file) => words.some((word) => file.includes(word)) || wanted.includes(file)))
}

function inOrder(files: string[]): string[] {
  const turn = (file: string) => (first.includes(file) ? 0 : 1)
  return files.sort((a, b) => turn(a) - turn(b) || a.localeCompare(b, 'en'))
}

async function runTests(
  { engine, directory }: { engine: string; directory: string },
  options: string[],
  files: string[],
): Promise<number> {
  const failures = join(directory, 'failures')
  // TAP without a terminal, because it ends with the summary; on a terminal, spec repeats
  // the failures itself.
  const reporters = process.stdout.isTTY
    ? [['spec', 'stdout']]
    : [
        ['tap', 'stdout'],
        ['dot', failures],
      ]
  const runner = [
    '--test',
    '--test-concurrency=3',
    `--test-timeout=${fileTimeoutMs}`,
    ...reporters.flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`]),
  ]
  const child = spawn(
    process.execPath,
    ['--conditions=development', '--import', 'tsx', ...runner, ...options, ...files],
    {
      cwd: repositoryRoot,
      stdio: 'inherit',
      // uWebSockets.js reads its limit when it is loaded.
      env: {
        ...process.env,
        DOCKER_HOST: engine,
        UWS_HTTP_MAX_HEADERS_SIZE: '16384',
        [compiledVariable]: join(directory, 'dist'),
      },
    },
  )
  const [code] = await once(child, 'exit')
  if (!process.stdout.isTTY) printFailures(failures)
  return typeof code === 'number' ? code : 1
}

/** Repeats the failures at the end of a long log. */
function printFailures(file: string): void {
  if (!existsSync(file)) return
  const [, summary] = readFileSync(file, 'utf8').split('Failed tests:')
  if (summary !== undefined) console.error(`Failed tests:${summary}`)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof MissingPrerequisite ? error.message : error)
  process.exitCode = 1
}
