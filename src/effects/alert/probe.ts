// Requests a domain as a client outside would: by its public name, with a certificate that fits.
import { messageOf } from '../../errors.ts'

const timeoutMs = 10_000

/** Null if it responds with a status below 500. Redirects are not followed, and bodies not read. */
export async function unreachableReason(domain: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { status, body } = await fetch(`https://${domain}/`, { redirect: 'manual', signal })
    await body?.cancel()
    return status < 500 ? null : `it responded with ${status}`
  } catch (error) {
    const { cause } = error as { cause?: unknown }
    return messageOf(cause ?? error)
  }
}
