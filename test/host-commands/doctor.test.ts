// `berthd doctor` as a separate process on real data directories: each is broken, and repaired by the command
// that it prints.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Finding } from '../../src/doctor/finding.ts'
import { hostDoctor } from '../../src/host-commands/doctor.ts'
import { openStorage } from '../../storage/index.ts'
import { openRedundantValue } from '../../storage/store/redundant-value.ts'
import { openStore } from '../../storage/store/store.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
const rank = { problem: 0, warning: 1, good: 2 }

async function doctor(dataDir: string, ...flags: string[]) {
  const args = [...programArgs('src/main'), 'doctor', '--data-dir', dataDir, ...flags]
  const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

/** The same in this process, which is faster. */
async function findingsOf(dataDir: string, ...flags: string[]) {
  const args = ['--data-dir', dataDir, '--json', ...flags]
  const { text: out, isGood } = await hostDoctor(args, { paint: (_, words) => words })
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  const find = (wanted: string) => findings.find((finding) => finding.code === wanted)
  return { isGood, findings, find }
}

/** The data directory of a server that is stopped. */
async function stoppedServer(t: TestContext): Promise<string> {
  const directory = temporaryDirectory(t)
  const storage = await openStorage(directory, { onPanic: assert.fail })
  await storage.close()
  return directory
}

/** Names, sizes, modes and times of all files. */
function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mode, mtimeMs } = statSync(join(directory, name))
      return `${name} ${size} ${mode} ${mtimeMs}`
    })
}

test('a stopped server is examined, and nothing in its data directory changes', async (t) => {
  const directory = await stoppedServer(t)
  const before = stateOf(directory).filter((line) => !line.startsWith('store/lock.mdb'))

  const { findings, find } = await findingsOf(directory)

  assert.deepEqual(
    stateOf(directory).filter((line) => !line.startsWith('store/lock.mdb')),
    before,
  )
  assert.match(find('store')!.found, /^opens with its key; .* of data in /)
  assert.equal(find('files')?.severity, 'good')
  assert.match(find('server_stopped')!.fix!, /^(berthd|systemctl start berth)/)
  const severities = findings.map(({ severity }) => severity)
  assert.deepEqual(
    severities,
    [...severities].sort((a, b) => rank[a] - rank[b]),
  )
})

test('a key that others may read is a problem, and the printed command repairs it', async (t) => {
  const directory = await stoppedServer(t)
  const key = join(directory, 'secret_key')
  execFileSync('chmod', ['644', key])

  const { isGood, find } = await findingsOf(directory)

  assert.equal(isGood, false)
  const { found, fix } = find('file_exposed')!
  assert.deepEqual([found, fix], [`${key} has mode 0644`, `chmod 600 ${key}`])
  execFileSync(fix!.split(' ')[0]!, fix!.split(' ').slice(1))
  assert.equal((await findingsOf(directory)).find('file_exposed'), undefined)
})

const damages: [what: string, damage: (directory: string) => unknown, code: string][] = [
  ['the key of another server', (path) => writeKey(path), 'key_wrong'],
  ['no key', (path) => execFileSync('rm', [join(path, 'secret_key')]), 'key_missing'],
  [
    'a file that is no store',
    (path) => writeFileSync(join(path, 'store/data.mdb'), 'x'.repeat(8192)),
    'store_unusable',
  ],
  ['no data directory', (path) => rmSync(path, { recursive: true }), 'data_directory_missing'],
  [
    'a file of another user',
    (path) => execFileSync('chown', ['12345', join(path, 'api_token')]),
    'file_owner',
  ],
  [
    'a store from the future',
    (path) => utimesSync(join(path, 'store/data.mdb'), new Date(), new Date(Date.now() + 3_600_000)),
    'clock_behind',
  ],
]

test('a store of another version of Berth is a warning', async (t) => {
  const directory = await stoppedServer(t)
  const store = openStore(directory, { onPanic: assert.fail })
  const schema = openRedundantValue<number>(store, 'meta', 'schema')
  await store.commit(() => schema.put(1))
  await store.close()

  const { find } = await findingsOf(directory)

  assert.equal(find('store_other_version')?.severity, 'warning')
})

function writeKey(directory: string): void {
  writeFileSync(join(directory, 'secret_key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)
}

for (const [what, damage, expected] of damages) {
  const needsRoot = expected === 'file_owner' && process.getuid?.() !== 0
  test(`${what} is the problem ${expected}`, { skip: needsRoot && 'needs root' }, async (t) => {
    const directory = await stoppedServer(t)
    await damage(directory)

    const { isGood, find } = await findingsOf(directory)

    assert.equal(isGood, false)
    assert.equal(find(expected)?.severity, 'problem', expected)
    assert.ok(find(expected)!.fix)
  })
}

test('an engine that is missing or never answers is a problem, and the rest is examined', async (t) => {
  const directory = await stoppedServer(t)
  const silent = join(temporaryDirectory(t), 'docker.sock')
  const server = createServer(() => undefined).listen(silent)
  t.after(() => server.close())

  for (const socket of ['/nowhere/docker.sock', silent]) {
    const { isGood, find, findings } = await findingsOf(directory, `--docker=unix://${socket}`)

    assert.equal(isGood, false)
    assert.equal(find('docker_unreachable')?.severity, 'problem')
    assert.equal(find('store')?.severity, 'good')
    assert.deepEqual(
      findings.filter(({ code }) => code === 'check_failed'),
      [],
    )
  }
})

test('the text names problems first, and what is good in one line', async (t) => {
  const directory = await stoppedServer(t)
  execFileSync('chmod', ['644', join(directory, 'api_token')])

  const short = await doctor(directory)
  const whole = await doctor(directory, '--all')

  assert.deepEqual([short.code, short.err], [1, ''])
  assert.match(short.out, /^\n ✘ .*\n/)
  assert.match(short.out, /→ chmod 600 /)
  assert.match(short.out, /\n1 problem · .*good: .*store.*\n$/)
  assert.match(whole.out, / ✔ store {2}opens with its key/)
  assert.ok(readFileSync(join(home, 'docs/doctor.md'), 'utf8').includes('`file_exposed`'))
})

test('a running server is examined with its own options, over the API too', async (t) => {
  const daemon = await startDaemon(t)

  const { find } = await findingsOf(daemon.dataDir)
  const asked = await Promise.all([1, 2, 3].map(() => daemon.api.get('/doctor')))

  assert.equal(find('server_stopped'), undefined)
  assert.match(find('ports')!.found, /--edge off/)
  const [first] = asked as { checked_at: string; findings: Finding[] }[]
  assert.equal(first!.findings.find(({ code }) => code === 'store')?.severity, 'good')
  assert.equal(new Set(asked.map((report) => JSON.stringify(report))).size, 1, 'requests share one look')
})
