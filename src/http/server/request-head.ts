// Rejects ambiguous request heads. uWS accepts them, and proxies interpret them differently, which allows
// request smuggling. The connection is closed afterwards, because its next request cannot be located.
import { Failure, invalidRequest } from '../../errors.ts'
import type { Request } from './messages.ts'

const urlLimitChars = 2048
/** uWS enforces its limit only for heads that arrive in several reads. */
const headersLimitChars = 16_384

/** Throws `invalid_request` for an ambiguous head, and for one that is too long. */
export function assertValidHead({ headers, path, query }: Request): void {
  const host = headers.get('host')
  if (!host || host.includes(',')) throw invalidRequest('the Host header must be given once')
  if (headers.get('content-length')?.includes(',')) throw invalidRequest('Content-Length must be given once')
  const encoding = headers.get('transfer-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw invalidRequest('the only Transfer-Encoding is chunked, given once')
  }
  if (encoding !== undefined && headers.has('content-length')) {
    throw invalidRequest('Content-Length and Transfer-Encoding exclude each other')
  }
  if (path.length + query.length + 1 > urlLimitChars) {
    throw invalidRequest(`the address may have at most ${urlLimitChars} characters`)
  }
  if (sizeOf(headers) > headersLimitChars) {
    throw invalidRequest(`the headers may have at most ${headersLimitChars} characters together`)
  }
}

/** Throws `length_required` for a chunked body, which only uploads accept. */
export function assertContentLength({ headers }: Pick<Request, 'headers'>): void {
  if (!headers.has('transfer-encoding')) return
  const hint = 'send Content-Length instead of Transfer-Encoding'
  throw new Failure('length_required', 'only an upload may be sent in chunks', hint)
}

function sizeOf(headers: Request['headers']): number {
  let size = 0
  for (const [name, value] of headers) size += name.length + value.length
  return size
}

/** Decodes the raw parameters of a path. Throws `invalid_request` for broken escapes and for NUL. */
export function decodeParams(names: readonly string[], raw: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) params[name] = decodeParam(name, raw[index] ?? '')
  return params
}

function decodeParam(name: string, raw: string): string {
  if (!raw.includes('%')) return raw
  try {
    const text = decodeURIComponent(raw)
    if (!text.includes('\0')) return text
  } catch {
    // Rejected below, like NUL.
  }
  throw invalidRequest(`the path's ${name} is not valid`)
}

const noQuery = new URLSearchParams()

/** Reads the query. Throws `invalid_request` for a key given twice and for NUL. */
export function parseQuery(raw: string): URLSearchParams {
  if (raw === '') return noQuery
  const query = new URLSearchParams(raw)
  const keys = [...query.keys()]
  if (new Set(keys).size < keys.length) throw invalidRequest('a query parameter is specified twice')
  if (raw.includes('%00')) throw invalidRequest('a query parameter contains a NUL')
  return query
}
