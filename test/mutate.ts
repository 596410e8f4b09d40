// npm run mutate -- storage/log supervisor: changes the code in small ways and reports the changes that no
// test of its folder detects. Arguments select the files whose path contains one of them; the default is
// all of machines/, storage/ and src/supervisor/, which takes more than an hour. Tests of changed code may
// hang or leave things behind, so they run as a process group in a separate folder.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeSurvivors, isEnough, type Report, scores } from './mutate/report.ts'

interface Folder {
  path: string
  /** The tests of the file, without the random model, because its results vary between runs. */
  tests: string
}

const home = fileURLToPath(new URL('..', import.meta.url))
const folders: Folder[] = [
  { path: 'machines', tests: 'test/machines/**/*.test.ts' },
  { path: 'storage', tests: 'test/storage/**/*.test.ts' },
  { path: 'src/supervisor', tests: 'test/supervisor/!(model).test.ts' },
]
const stryker = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js')
const results = join(home, '.cache/mutation')
/** The time that a test waits for an event that changed code may prevent. */
const timeoutMs = '10000'

async function main(words: string[]): Promise<number> {
  const found: Report['files'] = {}
  for (const folder of folders) {
    const files = chooseFiles(folder, words)
    if (files.length > 0) Object.assign(found, await mutate(folder, files))
  }
  if (Object.keys(found).length === 0) throw new Error(`no file is called like ${words.join(' or ')}`)
  console.log([...describeSurvivors(found), '', ...scores(found)].join('\n'))
  console.log(`\nIn detail: ${results}`)
  return isEnough(found) ? 0 : 1
}

function chooseFiles({ path }: Folder, words: string[]): string[] {
  const names = readdirSync(join(home, path), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => `${path}/${name}`)
  return words.length === 0 ? files : files.filter((file) => words.some((word) => file.includes(word)))
}

async function mutate({ path, tests }: Folder, files: string[]): Promise<Report['files']> {
  const fresh = (kind: string) => join(results, `report.${kind}`)
  const kept = (kind: string) => join(results, `${path.replace('/', '-')}.${kind}`)
  rmSync(fresh('json'), { force: true })
  await runStryker(['--mutate', files.join(','), '--testFiles', tests])
  if (!existsSync(fresh('json'))) throw new Error(`nothing was found out about ${path}`)
  for (const kind of ['json', 'html']) renameSync(fresh(kind), kept(kind))
  return (JSON.parse(readFileSync(kept('json'), 'utf8')) as Report).files
}

async function runStryker(options: string[]): Promise<void> {
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'berth-mutate-')))
  const strykerArgs = [
    'run',
    'test/mutate/stryker.json',
    '--tempDirName',
    join(temporary, 'sandbox'),
    ...options,
  ]
  const child = spawn(process.execPath, [stryker, ...strykerArgs], {
    cwd: home,
    stdio: 'inherit',
    detached: true,
    env: { ...process.env, TMPDIR: temporary, BERTH_TEST_PATIENCE_MS: timeoutMs },
  })
  const endAll = () => void process.kill(-child.pid!, 'SIGKILL')
  process.on('SIGINT', endAll).on('SIGTERM', endAll)
  await once(child, 'exit')
  process.off('SIGINT', endAll).off('SIGTERM', endAll)
  unmountBelow(temporary)
  rmSync(temporary, { recursive: true, force: true })
}

/** Unmounts the small disks of killed tests. */
function unmountBelow(directory: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const paths = mounts
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`))
  for (const path of paths) spawnSync('umount', [path])
}

process.exitCode = await main(process.argv.slice(2))
