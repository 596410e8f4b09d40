// Mail through a mail server. Its library is loaded with the first mail.
import { lookup } from 'node:dns/promises'
import { assertAllowed } from '../address-check.ts'
import { plainAddress } from '../address-classes.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { excerptOf, type Send, unreachable } from './channel.ts'
import { bodyOf, clipped, titleOf } from './text.ts'

const stepMs = 15_000

export const sendMail: Send = async (channel, message, signal) => {
  const { host, port, tls, username, secret, from, to } = channel
  const address = await addressOf(host!)
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host: address,
    port: port!,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { servername: plainAddress(host!) ? '' : host! },
    ...(username !== null && { auth: { user: username, pass: secret! } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const close = () => transport.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    const { response } = await transport.sendMail({
      from: from!,
      to: to!,
      subject: clipped(titleOf(message), 200),
      text: `${bodyOf(message)}\n`,
      // Mail programs show a repeated id once.
      messageId: `<${message.id}@berth.invalid>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    return Number.parseInt(response, 10) || 250
  } catch (error) {
    signal.throwIfAborted()
    throw toFailure(host!, error, secret)
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

/** The address that is checked is the one that is used. */
async function addressOf(host: string): Promise<string> {
  const literal = plainAddress(host)
  const address = literal ?? (await lookup(host).catch((error: unknown) => unresolved(host, error))).address
  assertAllowed(host, address)
  return address
}

function unresolved(host: string, error: unknown): never {
  throw unreachable(`the host name ${host} cannot be resolved: ${messageOf(error)}`)
}

function toFailure(host: string, error: unknown, secret: string | null): Failure {
  const { responseCode: status, command } = error as { responseCode?: number; command?: string }
  const said = excerptOf(messageOf(error), [secret])
  if (status !== undefined) return new Failure('message_rejected', `${host}: ${said}`).with({ status })
  const isClosed = said.includes('ECONNREFUSED')
  const text = isClosed
    ? 'nothing listens there'
    : codeOf(error) === 'ETIMEDOUT'
      ? 'it does not respond'
      : said
  return unreachable(`${host} cannot be reached: ${text}`, { mayHaveArrived: command === 'DATA' })
}
