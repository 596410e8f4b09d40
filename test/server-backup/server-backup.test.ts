// Backups of a whole server, made and restored by `berthd` as people use it: with a running daemon, with the
// program `age` as the independent reader, and with files that were cut, changed or never were a backup.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { restoreServer } from '../../src/server-backup/restore.ts'
import { openStorage } from '../../storage/index.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { everyActor, fillStorage } from '../support/storage/filled-storage.ts'
import { readView } from '../support/storage/storage-view.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { installPackages } from '../support/system/apt.ts'
import { hasCommand, run } from '../support/system/command.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))

before(async () => {
  if (!hasCommand('age')) await installPackages(['age'])
})

async function berthd(args: string[], input = '') {
  const child = spawn(process.execPath, [...programArgs('src/main'), ...args], { cwd: home })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => undefined).end(input)
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

/** A data directory with everything in it, which no process uses. */
async function filledServer(t: TestContext): Promise<string> {
  const directory = join(temporaryDirectory(t), 'data')
  const storage = await openStorage(directory, { onPanic: t.assert.fail })
  await fillStorage(storage)
  await storage.close()
  return directory
}

async function newKey(dataDir: string): Promise<string> {
  const { out } = await berthd(['backup-key', '--data-dir', dataDir])
  return /AGE-SECRET-KEY-1\w+/.exec(out)![0]
}

async function backUp(dataDir: string, path: string): Promise<void> {
  const { code, err } = await berthd(['backup', path, '--data-dir', dataDir])
  deepEqual([code, err], [0, ''])
}

async function viewOf(t: TestContext, directory: string) {
  const storage = await temporaryStorage(t, directory)
  return readView(
    storage,
    everyActor().map(({ id }) => id),
  )
}

test('a restored data directory has everything that the original had, which was open', async (t) => {
  const dataDir = await filledServer(t)
  const before = await viewOf(t, dataDir)
  const key = await newKey(dataDir)
  const path = join(dataDir, '../server.backup.age')
  await backUp(dataDir, path)
  const target = join(dataDir, '../deep/restored')

  const { code, out, err } = await berthd(['restore', path, '--data-dir', target], `${key}\n`)

  deepEqual([code, err], [0, ''])
  match(out, /as it was at .*\nStart it with: berthd --data-dir .*restored --prefix berth\nIt serves, .*\n$/)
  deepEqual(await viewOf(t, target), before)
  equal(statSync(target).mode & 0o777, 0o700)
  equal(existsSync(`${target}.restoring`), false)
  deepEqual(readdirSync(join(dataDir, 'backup-work')), [])
})

test('commands on the server are in the audit log, also of the restored server', async (t) => {
  const dataDir = await filledServer(t)
  const key = await newKey(dataDir)
  const path = join(dataDir, '../server.age')
  const target = join(dataDir, '../restored')
  await backUp(dataDir, path)
  await berthd(['restore', path, '--data-dir', target], key)
  for (const _ of [1, 2]) equal((await berthd(['activate', '--data-dir', target])).err, '')

  const { audit } = await temporaryStorage(t, target)
  const { records } = audit.page({ actor: 'host', limit: 10 })
  const commands = ['activate', 'restore'].map((name) => `server.${name}`)
  const expected = [...commands, 'server-backup.create', 'server.create_recovery_key']
  deepEqual(records.map(({ action }) => action).slice(0, expected.length), expected)
})

test('the program age opens a backup, and one that it wrote can be restored', async (t) => {
  const dataDir = await filledServer(t)
  const folder = temporaryDirectory(t)
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, await newKey(dataDir))
  const path = join(folder, 'server.age')
  await backUp(dataDir, path)

  const [plain, unpacked] = [join(folder, 'plain.tar.gz'), join(folder, 'unpacked')]
  await run('age', ['--decrypt', '--identity', keyFile, '--output', plain, path])
  mkdirSync(unpacked)
  await run('tar', ['--extract', '--gzip', '--file', plain, '--directory', unpacked])
  equal(JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8')).format, 1)
  const recipient = readFileSync(join(dataDir, 'backup_recipient'), 'utf8').trim()
  const foreign = join(folder, 'foreign.age')
  await run('age', ['--encrypt', '--recipient', recipient, '--output', foreign, plain])
  const target = join(folder, 'target')
  const { code, err } = await berthd(['restore', foreign, '--data-dir', target, '--key-file', keyFile])

  deepEqual([code, err], [0, ''])
  for (const name of ['secret_key', 'api_token']) {
    deepEqual(readFileSync(join(target, name)), readFileSync(join(dataDir, name)))
    deepEqual(readFileSync(join(unpacked, name)), readFileSync(join(dataDir, name)))
  }
})

test('a running server is backed up to standard output and by passphrase', async (t) => {
  const { api, dataDir } = await startDaemon(t)
  const { id } = await api.post('/services', { name: 'web', image: 'debian:12' })
  const passphrase = 'correct horse battery staple'
  const folder = temporaryDirectory(t)

  const made = await berthd(['backup', folder, '--data-dir', dataDir, '--passphrase'], `${passphrase}\n`)

  deepEqual([made.code, made.err], [0, ''])
  const [name] = readdirSync(folder)
  match(name!, /^berth-\d{8}T\d{6}Z\.backup\.age$/)
  const target = join(folder, 'target')
  const wrong = await berthd(
    ['restore', join(folder, name!), '--data-dir', target, '--passphrase'],
    'wrong\n',
  )
  match(wrong.err, /the passphrase is wrong/)
  const done = await berthd(
    ['restore', join(folder, name!), '--data-dir', target, '--passphrase'],
    passphrase,
  )
  deepEqual([done.code, done.err], [0, ''])
  const storage = await temporaryStorage(t, target)
  equal(storage.services.get(id)?.name, 'web')
})

test('what is wrong with a backup is named, and leaves nothing behind', async (t) => {
  const dataDir = await filledServer(t)
  const key = await newKey(dataDir)
  const folder = temporaryDirectory(t)
  const path = join(folder, 'server.age')
  writeFileSync(join(dataDir, 'logs', 'filler'), randomBytes(300_000))
  await backUp(dataDir, path)
  const good = readFileSync(path)
  const headerBytes = good.indexOf('\n--- ') + 1 + 48
  const otherKey = await newKey(dataDir)
  const codeOf = async (bytes: Buffer, given = key) => {
    const target = join(folder, 'target')
    const options = { dataDir: target, unlock: { key: given } }
    let code = ''
    await rejects(restoreServer(Readable.from([bytes]), options), (error: { code: string }) => {
      code = error.code
      return true
    })
    deepEqual([existsSync(target), existsSync(`${target}.restoring`)], [false, false])
    return code
  }
  const flipped = (at: number) => {
    const bytes = Buffer.from(good)
    bytes[at]! ^= 1
    return bytes
  }

  equal(await codeOf(good, otherKey), 'wrong_recovery_key')
  for (const at of [200, headerBytes + 1, headerBytes + 16, headerBytes + 17, 70_000, good.length - 1]) {
    equal(await codeOf(good.subarray(0, at)), 'backup_truncated', `cut at ${at}`)
  }
  for (const at of [
    60,
    100,
    150,
    headerBytes - 5,
    headerBytes + 3,
    headerBytes + 100,
    70_000,
    good.length - 1,
  ]) {
    equal(await codeOf(flipped(at)), 'backup_damaged', `changed at ${at}`)
  }
  equal(await codeOf(flipped(0)), 'backup_invalid')
  equal(await codeOf(Buffer.from('PGDMP and so on')), 'backup_invalid')
  equal(await codeOf(Buffer.alloc(0)), 'backup_invalid')
})

test('a backup that does not fit leaves nothing behind', async (t) => {
  const dataDir = await filledServer(t)
  const key = await newKey(dataDir)
  const folder = temporaryDirectory(t)
  await backUp(dataDir, join(folder, 'server.age'))
  const target = join(folder, 'target')
  const options = ['--data-dir', target, '--min-free-disk', '1000000000']

  const { err } = await berthd(['restore', join(folder, 'server.age'), ...options], key)

  match(err, /there is too little space for the backup/)
  deepEqual(readdirSync(folder), ['server.age'])
})

test('the option of the daemon needs its pipe', async (t) => {
  const dataDir = await filledServer(t)
  await newKey(dataDir)
  const args = ['backup', '-', '--data-dir', dataDir, '--for-daemon']
  const child = spawn(process.execPath, [...programArgs('src/main'), ...args], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  })

  match(await text(child.stderr), /--for-daemon needs a pipe of a running berthd/)
})

test('a target that is in use, or not empty, is refused', async (t) => {
  const dataDir = await filledServer(t)
  const key = await newKey(dataDir)
  const path = join(dataDir, '../server.age')
  await backUp(dataDir, path)
  await temporaryStorage(t, dataDir)

  const used = await berthd(['restore', path, '--data-dir', dataDir], key)
  match(used.err, /is in use by process \d+\n$/)
  const full = temporaryDirectory(t)
  writeFileSync(join(full, 'notes'), 'mine')
  const refused = await berthd(['restore', path, '--data-dir', full], key)
  match(refused.err, /is not empty: nothing was changed\n/)
  deepEqual(readdirSync(full), ['notes'])
})
