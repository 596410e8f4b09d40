// Objects in an S3-compatible bucket. Only this file loads the AWS SDK, with the first use. A bucket shows an
// object only when it is complete; what an interrupted upload left are parts, which cost money until they
// are removed.

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { lookupPublicOrPrivate, refuseInternalHost } from '../address-check.ts'
import { sleep } from '../async/sleep.ts'
import { Failure } from '../errors.ts'
import { limitAnswers } from './answer-limit.ts'
import { ContentFailure, describeFailure, isMissingObject, isUnsupported } from './bucket-failure.ts'
import type { BucketOptions } from './bucket-options.ts'
import { measured } from './measured.ts'
import type { ListedObject, ObjectFacts, ObjectStore } from './object-store.ts'

const mebibyte = 1024 * 1024
/** All parts of an object have the same size, because some services require it. */
const minPartBytes = 16 * mebibyte
const maxPartBytes = 256 * mebibyte
/** The limit is 10,000. */
const wantedParts = 5000
/** So many parts are in memory, and one that fills. */
const partsAtOnce = 2
const connectMs = 15_000
const defaultSilentMs = 60_000
const attempts = 4
const readAttempts = 5
const readPauseMs = 1000
const cleanupMs = 30_000
/** Of 200 objects each; a broken server may never end. */
const maxPages = 5000
const pageSize = 200

type Sdk = typeof import('@aws-sdk/client-s3')

export function openBucket(options: BucketOptions): ObjectStore {
  const { bucket: Bucket, prefix } = options
  const keyOf = (name: string) => `${prefix}${name}`
  let opening: Promise<{ sdk: Sdk; client: S3Client }> | null = null

  /** Runs one request, or a few; a failure becomes a sentence. */
  async function ask<T>(
    what: string,
    signal: AbortSignal,
    work: (sdk: Sdk, client: S3Client) => Promise<T>,
  ): Promise<T> {
    try {
      opening ??= connect(options)
      const { sdk, client } = await opening
      return await work(sdk, client)
    } catch (error) {
      signal.throwIfAborted()
      throw describeFailure(what, options, error)
    }
  }

  /** Removes the parts of uploads of that key that never ended. */
  async function removeParts(Key: string, abortSignal: AbortSignal): Promise<void> {
    await ask('list unfinished uploads', abortSignal, async (sdk, client) => {
      const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key, MaxUploads: pageSize })
      const { Uploads = [] } = await client.send(command, { abortSignal }).catch((error: unknown) => {
        if (isUnsupported(error)) return { Uploads: [] }
        throw error
      })
      for (const { Key: found, UploadId } of Uploads) {
        if (found !== Key || UploadId === undefined) continue
        const abort = new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })
        await client.send(abort, { abortSignal }).catch((error: unknown) => {
          if (!isMissingObject(error)) throw error
        })
      }
    })
  }

  return {
    locationOf: (name) => `s3://${Bucket}/${keyOf(name)}`,

    async put(name, content, signal, { expectedBytes = 0 } = {}) {
      const key = keyOf(name)
      await removeParts(key, signal)
      const wanted = Math.ceil(expectedBytes / wantedParts / mebibyte) * mebibyte
      const partSize = Math.min(maxPartBytes, Math.max(minPartBytes, wanted))
      try {
        return await ask('write', signal, (_, client) =>
          upload(client, { Bucket, key, partSize }, content, signal),
        )
      } catch (error) {
        // With a signal of its own, because the first one may be the reason of the failure.
        await removeParts(key, AbortSignal.timeout(cleanupMs)).catch(() => undefined)
        throw error
      }
    },

    async get(name, signal) {
      const read = (offset: number, etag?: string) =>
        ask('read', signal, async (sdk, client) => {
          const resumed = offset === 0 ? {} : { Range: `bytes=${offset}-`, IfMatch: etag }
          const command = new sdk.GetObjectCommand({ Bucket, Key: keyOf(name), ...resumed })
          return client.send(command, { abortSignal: signal }).catch((error: unknown) => {
            if (!isMissingObject(error)) throw error
            throw new Failure('backup_failed', `s3://${Bucket}/${keyOf(name)} is gone`)
          })
        })
      const first = await read(0)
      const sizeBytes = first.ContentLength ?? 0
      async function* content() {
        let offset = 0
        let body = first.Body as Readable
        for (let attempt = 1; ; attempt++) {
          try {
            for await (const piece of body) {
              signal.throwIfAborted()
              offset += piece.length
              attempt = 1
              yield piece as Uint8Array
            }
            return
          } catch (error) {
            signal.throwIfAborted()
            const isLast = attempt === readAttempts || first.ETag === undefined || offset >= sizeBytes
            if (isLast) throw describeFailure('read', options, error)
            await sleep(readPauseMs, signal)
            body = (await read(offset, first.ETag)).Body as Readable
          }
        }
      }
      return { sizeBytes, content: content() }
    },

    async *list(start, signal) {
      let ContinuationToken: string | undefined
      let pages = 0
      do {
        if (++pages > maxPages) {
          const message = `s3://${Bucket}/${keyOf(start)} has more than ${maxPages} pages of objects`
          throw new Failure('backup_place_failed', message, 'give the backups a prefix of their own')
        }
        const page = await ask('list', signal, (sdk, client) => {
          const place = { Bucket, Prefix: keyOf(start), ContinuationToken, MaxKeys: pageSize }
          return client.send(new sdk.ListObjectsV2Command(place), { abortSignal: signal })
        })
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
          const changedAt = (LastModified ?? new Date(0)).toISOString()
          yield { name: Key.slice(prefix.length), sizeBytes: Size, changedAt } satisfies ListedObject
        }
        ContinuationToken = page.NextContinuationToken
      } while (ContinuationToken !== undefined)
    },

    async remove(name, signal) {
      const Key = keyOf(name)
      await removeParts(Key, signal)
      await ask('remove', signal, async (sdk, client) => {
        const command = new sdk.DeleteObjectCommand({ Bucket, Key })
        await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
          if (!isMissingObject(error)) throw error
        })
      })
    },
  }
}

async function connect(options: BucketOptions): Promise<{ sdk: Sdk; client: S3Client }> {
  refuseInternalHost(options.endpoint)
  // It warns of later versions of the SDK, not of this one.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
  const sdk = await import('@aws-sdk/client-s3')
  // Connections are not kept, because a part is large.
  const agent = { keepAlive: false, lookup: lookupPublicOrPrivate }
  const client = new sdk.S3Client({
    endpoint: options.endpoint,
    region: options.region,
    forcePathStyle: options.pathStyle,
    credentials: { accessKeyId: options.keyId, secretAccessKey: options.secret },
    maxAttempts: attempts,
    // Many services do not know the newer checksums. What was written is read back and hashed anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
      connectionTimeout: connectMs,
      socketTimeout: options.silentMs ?? defaultSilentMs,
    },
  })
  limitAnswers(client)
  return { sdk, client }
}

interface UploadTarget {
  Bucket: string
  key: string
  partSize: number
}

/** Ends only when none of its requests is open. */
async function upload(
  client: S3Client,
  { Bucket, key: Key, partSize }: UploadTarget,
  source: AsyncIterable<Uint8Array>,
  abortSignal: AbortSignal,
): Promise<ObjectFacts> {
  const { Upload } = await import('@aws-sdk/lib-storage')
  const { content, facts } = measured(source)
  let failure: unknown = null
  async function* pieces() {
    try {
      for await (const piece of content) {
        // Otherwise the other part in flight would be followed by all others.
        if (failure !== null) throw failure
        yield piece
      }
    } catch (error) {
      failure ??= new ContentFailure(error)
      throw error
    }
  }
  const send = async (command: Parameters<S3Client['send']>[0]) => {
    try {
      return await client.send(command, { abortSignal })
    } catch (error) {
      failure ??= error
      throw error
    }
  }
  const Body = Readable.from(pieces(), { objectMode: false, highWaterMark: mebibyte })
  const bounded = { config: client.config, send } as unknown as S3Client
  const params = { Bucket, Key, Body, ContentType: 'application/octet-stream' }
  try {
    await new Upload({ client: bounded, params, partSize, queueSize: partsAtOnce }).done()
  } catch (error) {
    throw failure ?? error
  } finally {
    Body.destroy()
  }
  return facts()
}
