// Reads the pages of a list. The provider's total allows parallel requests; without it, pages come
// one by one.
import pLimit from 'p-limit'
import type { ProviderResponse } from './request.ts'

interface PageReader<T> {
  /** Pages count from 1. */
  read(page: number): Promise<ProviderResponse>
  parse(body: unknown): T[]
  /** The number of pages as the first response reports it; null if it does not. */
  countPages(first: ProviderResponse, pageLength: number): number | null
  pageSize: number
  maxEntries: number
}

export interface Pages<T> {
  entries: T[]
  isTruncated: boolean
}

const concurrency = 4

export async function readPages<T>(reader: PageReader<T>): Promise<Pages<T>> {
  const first = await reader.read(1)
  const entries = reader.parse(first.body)
  // An instance may have a smaller maximum than the requested size.
  const pageSize = entries.length || reader.pageSize
  const total = reader.countPages(first, pageSize)
  const rest =
    total === null ? await readInOrder(reader, entries.length) : await readInParallel(reader, total, pageSize)
  const all = [...entries, ...rest.flat()]
  const isTruncated =
    all.length > reader.maxEntries || (total !== null && total > pageLimit(reader, pageSize))
  return { entries: all.slice(0, reader.maxEntries), isTruncated }
}

function pageLimit({ maxEntries }: PageReader<unknown>, pageSize: number): number {
  return Math.ceil(maxEntries / pageSize)
}

async function readInParallel<T>(reader: PageReader<T>, total: number, pageSize: number): Promise<T[][]> {
  const limit = pLimit(concurrency)
  const last = Math.min(total, pageLimit(reader, pageSize))
  const pages = Array.from({ length: Math.max(0, last - 1) }, (_, index) => index + 2)
  return Promise.all(pages.map((page) => limit(async () => reader.parse((await reader.read(page)).body))))
}

/** Reads one page more than needed, to know whether there are more entries than the limit. */
async function readInOrder<T>(reader: PageReader<T>, firstLength: number): Promise<T[][]> {
  const pages: T[][] = []
  let length = firstLength
  for (let page = 2; length >= reader.pageSize && page <= pageLimit(reader, reader.pageSize) + 1; page++) {
    const entries = reader.parse((await reader.read(page)).body)
    pages.push(entries)
    length = entries.length
  }
  return pages
}
