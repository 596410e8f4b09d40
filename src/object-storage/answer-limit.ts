// The SDK collects and parses every answer but the content of an object, on the event loop.
import { pipeline, Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../errors.ts'

/** 200 keys, which is all that a page is asked for, have less. */
const maxAnswerKib = 512
/** They have some 5,000 tags and entities, on which the time for parsing depends. */
const maxMarks = 20_000
const [tag, entity] = [...Buffer.from('<&')]

interface Handler {
  handle(
    request: { hostname: string; query?: Record<string, unknown> },
    options?: object,
  ): Promise<{ response: { statusCode: number; body?: unknown } }>
}

/** Ends a longer answer with `backup_place_failed` before it is collected. */
export function limitAnswers(client: S3Client): void {
  const requestHandler = client.config.requestHandler as unknown as Handler
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = async (request, options) => {
    const result = await handle(request, options)
    const { response } = result
    const isContent = request.query?.['x-id'] === 'GetObject' && response.statusCode < 300
    if (!isContent && response.body instanceof Readable)
      response.body = limited(response.body, request.hostname)
    return result
  }
}

function limited(body: Readable, host: string): Readable {
  let [bytes, marks] = [0, 0]
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > maxAnswerKib * 1024) return refuse(`is larger than ${maxAnswerKib} KiB`)
      for (const byte of chunk) if (byte === tag || byte === entity) marks++
      if (marks > maxMarks) return refuse(`has more than ${maxMarks} tags and entities`)
      done(null, chunk)

      function refuse(why: string) {
        done(new Failure('backup_place_failed', `${host}: its answer ${why}`))
      }
    },
  })
  // The reader of the limit gets the error.
  return pipeline(body, limit, () => undefined)
}
