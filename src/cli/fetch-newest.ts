// The newest records of a list that the server gives in pages.
import type { Client } from './client/client.ts'

/** What the server gives at most in one answer. */
const maxPageSize = 500

export async function fetchNewest<One extends { id: string }>(
  client: Client,
  path: string,
  limit: number,
  most = maxPageSize,
): Promise<One[]> {
  const found: One[] = []
  while (true) {
    const asked = Math.min(most, limit - found.length)
    const before = found.at(-1)?.id
    const page = await client.call<One[]>('GET', path, { query: { limit: asked, before } })
    found.push(...page)
    if (page.length < asked || found.length >= limit) return found
  }
}
