// A second S3 server, whose authors share nothing with Swift. It needs no package of the system.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { BucketOptions } from '../../../src/object-storage/bucket-options.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

const program = fileURLToPath(new URL('serve-s3rver.ts', import.meta.url))

export interface S3rver {
  port: number
  /** The only key that it knows. */
  options: BucketOptions
}

export async function startS3rver(t: Scope, { aheadSeconds = 0 } = {}): Promise<S3rver> {
  const bucket = 'berth'
  const args = ['--import', 'tsx', program, temporaryDirectory(t), bucket, String(aheadSeconds)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => resolve(Number(line)))
    child.once('exit', (code) => reject(new Error(`s3rver ended with ${code}`)))
  })
  const key = { keyId: 'S3RVER', secret: 'S3RVER', region: 'us-east-1' }
  return {
    port,
    options: { endpoint: `http://127.0.0.1:${port}`, bucket, prefix: 'shop/', pathStyle: true, ...key },
  }
}
