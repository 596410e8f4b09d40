import { deepEqual, equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { openTestLogs, readLog } from '../../support/storage/logs.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ts = '2026-01-02T03:04:05.678Z'
const root = join(import.meta.dirname, '../../..')
const writerProgram = `
  import { openLogs } from '${root}/storage/log/logs.ts'
  const logs = openLogs(process.argv.at(-1))
  logs.watch('dep-1', () => console.log(logs.head('dep-1')))
  setInterval(() => { for (let i = 0; i < 500; i++) logs.append('dep-1', 'stdout', 'x'.repeat(i)) }, 1)
`

test('lines refused by a full disk are reported, retained, and written once there is room', async (t) => {
  const { logs, disk, codes } = await openOnFullDisk(t)

  logs.append('dep-1', 'stdout', 'two', ts)
  await logs.flush()
  const shownMeanwhile = logs.head('dep-1')
  disk.empty()
  await logs.flush()

  deepEqual(codes, ['ENOSPC'])
  equal(shownMeanwhile, 1)
  deepEqual(
    (await readLog(logs, 'dep-1')).map(({ line }) => line),
    ['one', 'two'],
  )
})

test('writing to a full disk is retried automatically', async (t) => {
  const { logs, disk } = await openOnFullDisk(t)
  logs.append('dep-1', 'stdout', 'two', ts)
  await logs.flush()
  const following = new Promise<void>((resolve) => logs.watch('dep-1', resolve))

  disk.empty()
  await following

  equal(logs.head('dep-1'), 2)
})

test('lines that exceed the memory limit while the disk refuses are dropped and counted', async (t) => {
  const { logs, disk } = await openOnFullDisk(t, { pendingBytes: 10_000, segmentBytes: 1000 })

  for (let number = 2; number <= 1000; number++) logs.append('dep-1', 'stdout', `line ${number}`, ts)
  await logs.flush()
  disk.empty()
  await logs.flush()
  const [first, notice, next] = await readLog(logs, 'dep-1')

  equal(first?.line, 'one')
  equal(notice?.line, `${(next?.number ?? 0) - 2} lines are missing here`)
  equal(next?.line, `line ${next?.number}`)
  equal(logs.head('dep-1'), 1000)
})

test('a line that a reader has seen survives a SIGKILL', async (t) => {
  const directory = temporaryDirectory(t)
  const options = ['--import', 'tsx', '--input-type=module', '--eval', writerProgram, directory]
  const writer = spawn(process.execPath, options, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => writer.kill('SIGKILL'))
  let seen = 0
  for await (const line of createInterface(writer.stdout)) {
    seen = Number(line)
    if (seen > 3000) writer.kill('SIGKILL')
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit')

  const lines = await readLog(openTestLogs(t, directory), 'dep-1')

  equal(lines.length >= seen, true)
  deepEqual(
    lines.map(({ number, line }) => [number, line.length]),
    lines.map((_, index) => [index + 1, index % 500]),
  )
})

/** A log with one line whose file is then replaced by /dev/full, until the disk has space again. */
async function openOnFullDisk(t: TestContext, limits: { pendingBytes?: number; segmentBytes?: number } = {}) {
  const directory = temporaryDirectory(t)
  const codes: string[] = []
  const options = { retryMs: 50, ...limits, onError: (error: unknown) => codes.push(codeOf(error)) }
  await writeFirstLine(t, directory)
  const logs = openTestLogs(t, directory, options)
  logs.head('dep-1')
  const disk = fillDisk(join(directory, 'dep-1'))
  const reopen = async () => {
    await logs.close()
    return openTestLogs(t, directory)
  }
  return { logs, disk, codes, reopen }
}

async function writeFirstLine(t: TestContext, directory: string): Promise<void> {
  const logs = openTestLogs(t, directory)
  logs.append('dep-1', 'stdout', 'one', ts)
  await logs.close()
}

function fillDisk(log: string): { empty(): void } {
  const [name = ''] = readdirSync(log)
  const [path, aside] = [join(log, name), `${log}-aside`]
  renameSync(path, aside)
  symlinkSync('/dev/full', path)
  return { empty: () => renameSync(aside, path) }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
