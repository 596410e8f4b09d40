// A gibibyte through `berth cp` into a disk and out of it, and as the input of `berth run`: it arrives whole,
// and the daemon never holds much of it.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { extract } from 'tar-stream'
import { runBerth } from '../support/cli/berth.ts'
import { createWorker } from '../support/daemon/jobs.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const suite = daemonSuite()
const mebibyte = 1024 * 1024

/** The most memory that the daemon ever had. */
function peakMb(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${suite.daemon.pid}/status`, 'utf8'))!
  return Number(kilobytes) / 1024
}

async function writeLarge(path: string): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  for (let written = 0; written < 1024; written += 16) {
    const piece = randomBytes(16 * mebibyte)
    hash.update(piece)
    await file.appendFile(piece)
  }
  await file.close()
  return hash.digest('hex')
}

/** The hash of the only file in a tar. */
async function hashInside(tar: PassThrough): Promise<string> {
  const hash = createHash('sha256')
  const entries = tar.pipe(extract())
  for await (const entry of entries) for await (const piece of entry) hash.update(piece as Buffer)
  return hash.digest('hex')
}

test('a gibibyte passes whole, and the memory of the daemon stays bounded', async (t) => {
  const { name } = await createWorker(t, suite.api, { disk_mount_path: '/data' })
  const cwd = temporaryDirectory(t)
  const sha256 = await writeLarge(join(cwd, 'big'))
  const before = peakMb()
  const { daemon } = suite
  const requireBounded = (what: string) => {
    t.diagnostic(`${what}: peak of ${Math.round(peakMb())} MiB, ${Math.round(before)} before`)
    assert.ok(peakMb() < before + 150, `${what}: ${before} MiB became ${peakMb()} MiB`)
  }

  const put = await runBerth(t, ['cp', 'big', `disk:${name}:/`], { daemon, cwd })
  assert.equal(put.code, 0, put.stderr)
  const inside = await runBerth(t, ['ssh', name, '--', 'sha256sum < /data/big'], { daemon })
  assert.equal(inside.stdout.slice(0, 64), sha256)
  requireBounded('into a disk')

  const stdout = new PassThrough()
  const hashed = hashInside(stdout)
  const got = await runBerth(t, ['cp', `disk:${name}:/big`, '-'], { daemon, stdout })
  assert.equal(got.code, 0, got.stderr)
  stdout.end()
  assert.equal(await hashed, sha256)
  requireBounded('out of a disk')

  const stdin = createReadStream(join(cwd, 'big'))
  const ran = await runBerth(t, ['run', '-i', name, '--', 'sha256sum; exit 7'], { daemon, stdin })
  assert.deepEqual([ran.code, ran.stdout.slice(0, 64)], [7, sha256])
  requireBounded('into a run')
})
