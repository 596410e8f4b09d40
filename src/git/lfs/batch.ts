// Asks a server of Git LFS where the contents of objects are.
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { codeOf, Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { readAnswer } from '../../readers/json.ts'
import { type LfsLimits, parseLfsUrl, requestLfs, toLfsFailure, unreachable } from './request.ts'
import { Address, type LfsServer } from './server.ts'

export interface LfsObject {
  oid: string
  sizeBytes: number
  /** The first of its paths, in messages. */
  name: string
}

export interface Download {
  url: URL
  /** For this address only. */
  headers: Record<string, string>
}

const mediaType = 'application/vnd.git-lfs+json'
const maxResponseBytes = 1024 * 1024
const maxReasonLength = 200

const Batch = z.object({
  transfer: z.string().nullish(),
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z.object({ download: Address.optional() }).nullish(),
      error: z.object({ code: z.number(), message: z.string().catch('') }).nullish(),
    }),
  ),
})

/** By object id. Throws `source_invalid` for an object that the server does not have. */
export async function locateObjects(
  server: LfsServer,
  objects: LfsObject[],
  limits: LfsLimits,
): Promise<Map<string, Download>> {
  const response = await ask(server, objects, limits)
  const parsed = Batch.safeParse(await parse(response.body, server))
  if (!parsed.success || (parsed.data.transfer ?? 'basic') !== 'basic')
    throw unreachable(server.url, 'its response is not that of a server of Git LFS')
  const found = new Map(parsed.data.objects.map((one) => [one.oid, one]))
  return new Map(
    objects.map(({ oid, name }) => {
      const { error, actions } = found.get(oid) ?? {}
      if (error) throw missing(name, server, `${error.code} ${error.message}`)
      if (!actions?.download) throw missing(name, server, 'it names no address')
      return [oid, toDownload(server, actions.download)]
    }),
  )
}

function toDownload(server: LfsServer, { href, header }: z.output<typeof Address>): Download {
  const url = parseLfsUrl(href, server.url)
  const isAuthorized = Object.keys(header).some((name) => name.toLowerCase() === 'authorization')
  // The address that was asked answers itself: with its own credentials.
  const own = url.origin === server.url.origin && !isAuthorized ? server.headers() : {}
  return { url, headers: { ...own, ...header } }
}

async function ask(server: LfsServer, objects: LfsObject[], limits: LfsLimits): Promise<Answer> {
  const body = JSON.stringify({
    operation: 'download',
    transfers: ['basic'],
    objects: objects.map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes })),
    hash_algo: 'sha256',
  })
  const url = new URL(`${server.url.href.replace(/\/+$/, '')}/objects/batch`)
  const headers = { accept: mediaType, 'content-type': mediaType }
  const post = async () => {
    const request = { url, headers, secretHeaders: server.headers(), body }
    return receiveAnswer(await requestLfs(request, limits), url, limits)
  }
  let answer = await post()
  if (answer.status === 401 && (await server.renew())) answer = await post()
  if (answer.status === 200) return answer
  const said = z.object({ message: z.string() }).safeParse(await parse(answer.body, server))
  const reason = [answer.status, said.success ? said.data.message : ''].join(' ').trim()
  const isRefused = [401, 403, 404].includes(answer.status)
  throw unreachable(url, `it answered ${plain(reason, server)}${isRefused ? `; ${server.advice}` : ''}`)
}

interface Answer {
  status: number
  body: Buffer
}

async function receiveAnswer(response: IncomingMessage, url: URL, { signal }: LfsLimits): Promise<Answer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxResponseBytes)
        throw unreachable(url, `its response is larger than ${size(maxResponseBytes)}`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw toLfsFailure(url, error, signal)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}

async function parse(body: Buffer, { url }: LfsServer): Promise<unknown> {
  try {
    return await readAnswer(body, { owner: url.host })
  } catch (error) {
    if (codeOf(error) !== 'invalid_request') throw error
    return null
  }
}

function missing(name: string, server: LfsServer, reason: string): Failure {
  const what = `${name} is not in Git LFS at ${server.url.host}`
  return new Failure('source_invalid', `${what}: ${plain(reason, server)}`)
}

/** Text of a server, for people. It is masked before it is cut: a part of a secret is a secret too. */
function plain(text: string, { mask }: LfsServer): string {
  return mask(text)
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, maxReasonLength)
    .trim()
}
