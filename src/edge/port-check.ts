// Whether a connection to a public port reaches this edge. Only this edge can answer a nonce, because its
// configuration contains the key. Another program on the port gives a different response.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { codeOf } from '../errors.ts'

/** The proof that an edge belongs to this server. */
export interface Proof {
  /** The host name that the edge answers itself. It is random, so no client can request it. */
  host: string
  /** In base64, as HAProxy expects it. */
  key: string
}

export interface PortTarget {
  address: string
  port: number
  isTls: boolean
}

/** `none`: there was no HTTP or TLS response; the connection was refused, cut or silent. */
export type PortOwner = 'this edge' | 'another program' | 'none'

const answerMs = 3_000
const longestAnswer = 64
/** Error codes of Node for a peer that speaks neither HTTP nor TLS. */
const foreignProtocol = /^(HPE_|EPROTO$|ERR_SSL_)/

/** The same for all generations of an edge. */
export function proofOf(secret: string): Proof {
  const derive = (purpose: string) => createHash('sha256').update(`${purpose} ${secret}`).digest()
  return {
    host: `${derive('port check host').toString('hex').slice(0, 32)}.invalid`,
    key: derive('port check key').toString('base64'),
  }
}

export function proofRouting({ host }: Proof): string {
  return ` use_backend proof if { var(txn.host) -m str ${host} }`
}

export function proofBackend({ key }: Proof): string {
  return `backend proof
 http-request return status 200 content-type text/plain lf-string "%[path,hmac(sha256,${key}),hex]"`
}

/** Sends one request on a new connection. Rejects only with the signal. */
export async function findPortOwner(
  target: PortTarget,
  proof: Proof,
  signal: AbortSignal,
): Promise<PortOwner> {
  const path = `/${randomBytes(16).toString('hex')}`
  const expected = createHmac('sha256', Buffer.from(proof.key, 'base64')).update(path).digest('hex')
  try {
    const response = await ask(target, { host: proof.host, path }, AbortSignal.any([signal, timeout()]))
    return response.toLowerCase() === expected ? 'this edge' : 'another program'
  } catch (error) {
    signal.throwIfAborted()
    return foreignProtocol.test(codeOf(error)) ? 'another program' : 'none'
  }
}

const timeout = () => AbortSignal.timeout(answerMs)

/** The beginning of the body, whatever the status. */
function ask(
  { address, port, isTls }: PortTarget,
  { host, path }: { host: string; path: string },
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: address, port, path, headers: { host }, agent: false as const, signal }
    // The certificate proves nothing here: the edge uses a self-signed one for unknown names.
    const asking = isTls
      ? requestHttps({ ...options, servername: host, rejectUnauthorized: false })
      : requestHttp(options)
    asking.on('error', reject)
    asking.once('response', (response) => {
      let body = ''
      const finish = () => {
        resolve(body)
        asking.destroy()
      }
      response.setEncoding('latin1')
      response.on('error', finish)
      response.once('close', finish)
      response.on('data', (chunk: string) => {
        body = (body + chunk).slice(0, longestAnswer + 1)
        if (body.length > longestAnswer) finish()
      })
    })
    asking.end()
  })
}
