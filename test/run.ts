// The program behind `npm test`: prepares the machine once, then runs the test files in a few processes.
//   npm test                       each feature in its main case, and short drills
//   npm run test:all               also *.long.test.ts, tests called `long`, and whole drills with new seeds
//   npm test -- deploy edge        the files whose path contains one of the words
//   npm test -- --test-name-pattern=restart deploy    options go to node as they are
//   npm test -- --workers=1        the number of processes
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './support/daemon/bundle.ts'
import { compiledVariable } from './support/daemon/program.ts'
import { ensureDashboard } from './support/dashboard/build.ts'
import { requireBuilder } from './support/docker/builder.ts'
import { ensureEngine } from './support/docker/engine.ts'
import { baseImages } from './support/docker/images.ts'
import { runFiles } from './support/runner/pool.ts'
import { Results } from './support/runner/results.ts'
import { isWhole } from './support/system/drill-size.ts'
import { MissingPrerequisite } from './support/system/missing-prerequisite.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
/** Seconds by file, as far as they are known. Long files start first, so that none is left for the end. */
const secondsFile = join(repositoryRoot, '.cache/test-seconds.json')
const workersOption = '--workers='
const neededBytes = 4 * 1024 ** 3

async function main(args: string[]): Promise<number> {
  const started = performance.now()
  const workers = Number(args.find((arg) => arg.startsWith(workersOption))?.slice(workersOption.length) ?? 4)
  const nodeOptions = args.filter((arg) => arg.startsWith('-') && !arg.startsWith(workersOption))
  const files = chooseFiles(args.filter((arg) => !arg.startsWith('-')))
  if (files.length === 0) throw new MissingPrerequisite(`No test file is called like ${args.join(' or ')}.`)
  const directory = mkdtempSync(join(tmpdir(), 'berth-tests-'))
  try {
    const [engine] = await Promise.all([prepareDocker(), bundle(directory), ensureDashboard()])
    // uWebSockets.js reads its limit when it is loaded.
    const env = {
      ...process.env,
      DOCKER_HOST: engine,
      UWS_HTTP_MAX_HEADERS_SIZE: '16384',
      TMPDIR: process.env.TMPDIR ?? chooseTemporaryFolder(),
      [compiledVariable]: join(directory, 'dist'),
    }
    const results = new Results()
    await runFiles(files, { workers, nodeOptions, env, onResult: (result) => results.add(result) })
    recordSeconds(results)
    return results.finish(performance.now() - started) ? 0 : 1
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Memory, where there is enough of it: half of the tests would wait for a disk that they do not test. */
function chooseTemporaryFolder(): string {
  const inMemory = '/dev/shm'
  if (!existsSync(inMemory)) return tmpdir()
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize > neededBytes ? inMemory : tmpdir()
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
  if (words.length === 0) return longestFirst(files.filter((file) => isWhole || !file.includes('.long.')))
  return longestFirst(
    files.filter((file) => words.some((word) => file.includes(word)) || wanted.includes(file)),
  )
}

/** Files without a record come after the slow ones and before the quick ones. Drills and daemons lead. */
function longestFirst(files: string[]): string[] {
  const seconds = readSeconds()
  const estimate = (file: string) => seconds[file] ?? (/^test\/(daemon|[a-z]+\.test)/.test(file) ? 10 : 2)
  return files.sort((a, b) => estimate(b) - estimate(a) || a.localeCompare(b, 'en'))
}

function readSeconds(): Record<string, number> {
  return existsSync(secondsFile) ? JSON.parse(readFileSync(secondsFile, 'utf8')) : {}
}

function recordSeconds({ files }: Results): void {
  const seconds = readSeconds()
  for (const { file, milliseconds } of files) seconds[file] = Math.round(milliseconds / 100) / 10
  mkdirSync(join(repositoryRoot, '.cache'), { recursive: true })
  writeFileSync(secondsFile, JSON.stringify(seconds, null, 2))
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof MissingPrerequisite ? error.message : error)
  process.exitCode = 1
}
