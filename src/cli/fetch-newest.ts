// Fetches the newest records of a paginated list.
import type { Client } from './client/client.ts'

/** The server's limit for one page. */
const maxPageSize = 500

export async function fetchNewest<One extends { id: string }>(
  client: Client,
  path: string,
  limit: number,
  most = maxPageSize,
): Promise<One[]> {
  const found: One[] = []
  while (true) {
    const pageSize = Math.min(most, limit - found.length)
    const before = found.at(-1)?.id
    const page = await client.call<One[]>('GET', path, { query: { limit: pageSize, before } })
    found.push(...page)
    if (page.length < pageSize || found.length >= limit) return found
  }
}
