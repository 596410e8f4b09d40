import { equal, throws } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { lockDirectory } from '../../../storage/store/lock.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const root = join(import.meta.dirname, '../../..')

/** Locks a directory and starts a child that outlives it, as a daemon does with git. */
const holderProgram = `
  import { spawn } from 'node:child_process'
  import { lockDirectory } from '${root}/storage/store/lock.ts'
  lockDirectory(process.argv.at(-1))
  console.log(spawn('sleep', ['60'], { stdio: 'ignore' }).pid)
`

test('a directory is refused while its daemon runs, and free as soon as it is killed', async (t) => {
  const directory = temporaryDirectory(t)
  const { holder, childPid } = await startHolder(t, directory)
  const message = `The data directory ${directory} is in use by process ${holder.pid}`

  throws(() => lockDirectory(directory), { code: 'data_directory_in_use', message })
  holder.kill('SIGKILL')
  await once(holder, 'exit')

  equal(isAlive(childPid), true)
  lockDirectory(directory).release()
})

test('a child process of the daemon does not inherit the lock file', async (t) => {
  const directory = temporaryDirectory(t)

  const { childPid } = await startHolder(t, directory)

  equal(openFilesOf(childPid).includes(join(directory, 'lock')), false)
})

test('a directory can be locked again after its release, and a second release changes nothing', (t) => {
  const directory = temporaryDirectory(t)
  const first = lockDirectory(directory)

  first.release()
  const second = lockDirectory(directory)
  first.release()

  throws(() => lockDirectory(directory), { code: 'data_directory_in_use' })
  second.release()
})

test('a system without locks is an error, not a successful lock', (t) => {
  const directory = temporaryDirectory(t)
  const { PATH } = process.env
  t.after(() => Object.assign(process.env, { PATH }))

  process.env.PATH = directory

  const refusal = (reason: RegExp) => ({ code: 'lock_unavailable', message: reason })
  throws(() => lockDirectory(directory), refusal(/^The data directory cannot be locked: .*flock ENOENT$/))
  const flock = (body: string) =>
    writeFileSync(join(directory, 'flock'), `#!${process.execPath}\n${body}\n`, { mode: 0o700 })
  flock('process.exit(71)')
  throws(() => lockDirectory(directory), refusal(/: flock ended with 71$/))
  flock("console.error('no locks here\\n'); process.exit(71)")
  throws(() => lockDirectory(directory), refusal(/: no locks here$/))
})

async function startHolder(t: TestContext, directory: string) {
  const options = ['--import', 'tsx', '--input-type=module', '--eval', holderProgram, directory]
  const holder = spawn(process.execPath, options, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => holder.kill('SIGKILL'))
  const [line] = await once(createInterface(holder.stdout), 'line')
  const childPid = Number(line)
  t.after(() => process.kill(childPid, 'SIGKILL'))
  return { holder, childPid }
}

function isAlive(pid: number): boolean {
  return process.kill(pid, 0)
}

function openFilesOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).flatMap((name) => {
    try {
      return [readlinkSync(join(directory, name))]
    } catch {
      return [] // Closed after readdir: a starting program opens and closes its libraries.
    }
  })
}
