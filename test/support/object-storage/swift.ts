// OpenStack Swift of Debian with its S3 interface, for one test file.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { BucketOptions } from '../../../src/object-storage/bucket-options.ts'
import { hasCommand, run } from '../system/command.ts'
import type { Scope } from '../system/directory.ts'

const script = fileURLToPath(new URL('serve-swift.py', import.meta.url))
const packages = 'swift-proxy swift-account swift-container swift-object'

/** The reason why Swift cannot run here; false if it can. */
export const skipsSwift = existsSync('/usr/bin/swift-proxy-server')
  ? false
  : `Swift is not installed: apt-get install ${packages}`

export const skipsS3cmd = hasCommand('s3cmd') ? false : 's3cmd is not installed: apt-get install s3cmd'

export interface Swift {
  port: number
  /** A new empty bucket. */
  bucket(): Promise<BucketOptions>
  /** The output of another client. */
  s3cmd(...args: string[]): Promise<string>
}

export async function startSwift(t: Scope, { aheadSeconds = 0 } = {}): Promise<Swift> {
  // Swift needs extended attributes, which a file system in memory may not have.
  const folder = mkdtempSync('/var/tmp/berth-swift-')
  const child = spawn('/usr/bin/python3', [script, folder, String(aheadSeconds)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.stdin.end()
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => resolve(Number(line)))
    child.once('exit', (code) => reject(new Error(`Swift ended with ${code}`)))
  })
  const host = `127.0.0.1:${port}`
  const keys = ['--access_key=test:tester', '--secret_key=testing', '--no-ssl', '--region=us-east-1']
  const s3cmd = (...args: string[]) =>
    run('s3cmd', ['-c', join(folder, 'none'), ...keys, `--host=${host}`, `--host-bucket=${host}`, ...args])
  let buckets = 0
  return {
    port,
    s3cmd,
    async bucket() {
      buckets += 1
      const bucket = `bucket-${buckets}`
      await s3cmd('mb', `s3://${bucket}`)
      return bucketOptions(port, { bucket })
    },
  }
}

export function bucketOptions(port: number, changes: Partial<BucketOptions> = {}): BucketOptions {
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'berth',
    prefix: 'shop/',
    region: 'us-east-1',
    pathStyle: true,
    keyId: 'test:tester',
    secret: 'testing',
    ...changes,
  }
}
