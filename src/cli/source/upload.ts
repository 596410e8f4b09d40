// Sends a packed source to its service. An upload is never retried: a second one might cause another deploy.
import type { FileHandle } from 'node:fs/promises'
import { Transform } from 'node:stream'
import type { Deploy } from '../../api/deploy.ts'
import { size } from '../../quantities.ts'
import { readJson, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'
import { showStep } from '../terminal/phase-line.ts'
import type { PackedSource } from './pack.ts'

export interface UploadOptions {
  serviceName: string
  clearCache: boolean
}

/** Before this time, a rate is meaningless. */
const minRateSampleMs = 500

/** Throws CliFailure. For a lost connection (5), the message states whether the upload may have arrived. */
export async function uploadSource(
  { client, out, signal }: Cli,
  { file, sizeBytes }: PackedSource,
  { serviceName, clearCache }: UploadOptions,
): Promise<Deploy> {
  const startedAt = Date.now()
  const sent = meterOf(file)
  const detail = () => progress(sent.bytes(), sizeBytes, Date.now() - startedAt)
  return showStep(out, { name: 'uploading', detail, summary: () => size(sizeBytes) }, async () => {
    try {
      const response = await client.open('POST', `${servicePath(serviceName)}/deploys/upload`, {
        body: sent.stream,
        headers: { 'content-type': 'application/gzip', 'content-length': String(sizeBytes) },
        query: clearCache ? { clear_cache: true } : {},
      })
      return await readJson<Deploy>(response, { url: client.url, signal })
    } catch (error) {
      const isComplete = sent.bytes() >= sizeBytes
      if (signal.aborted && !isComplete) throw interruption('interrupted: nothing was deployed')
      throw isLoss(error) ? lost(error, serviceName, isComplete) : error
    } finally {
      sent.stream.destroy()
    }
  })
}

function meterOf(file: FileHandle) {
  let bytes = 0
  const stream = new Transform({
    transform(chunk, _, done) {
      bytes += chunk.length
      done(null, chunk)
    },
  })
  const content = file.createReadStream({ start: 0, autoClose: false })
  content.on('error', (error) => stream.destroy(error))
  return { stream: content.pipe(stream), bytes: () => bytes }
}

/** `3.1 MiB of 12.4 MiB, 2.2 MiB/s` */
function progress(bytes: number, sizeBytes: number, elapsedMs: number): string {
  const rate = elapsedMs > minRateSampleMs ? `, ${size(Math.round((bytes / elapsedMs) * 1000))}/s` : ''
  return `${size(bytes)} of ${size(sizeBytes)}${rate}`
}

function isLoss(error: unknown): error is CliFailure {
  return error instanceof CliFailure && error.exitCode === exitCodes.unreachable
}

function lost({ message, exitCode }: CliFailure, name: string, isComplete: boolean): CliFailure {
  if (isComplete) {
    const what = 'the connection was lost after the upload, before the server responded'
    return new CliFailure(`${what}\n${message}`, {
      exitCode,
      hint: `to see whether it arrived: berth deploys ${name}`,
    })
  }
  const what = 'the connection was lost during the upload: nothing was deployed'
  return new CliFailure(`${what}\n${message}`, { exitCode, hint: `try again: berth up ${name}` })
}
