// Copies of the store from before its schema changed: with one of them, the former version can start again.
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from './store.ts'

const folderName = 'store-copies'
const keptCopies = 3
const draftSuffix = '.part'

/** Returns the path of the copy. The oldest copies are removed; names sort by time. */
export async function keepCopy(directory: string, store: Store, schema: number): Promise<string> {
  const parent = join(directory, folderName)
  const stamp = new Date().toISOString().replace(/\.\d+|[-:]/g, '')
  const path = join(parent, `${stamp}-schema-${schema}`)
  const draft = `${path}${draftSuffix}`
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await store.copyTo(draft)
  const file = await open(join(draft, 'data.mdb'), 'r')
  await file.sync().finally(() => file.close())
  await rename(draft, path)
  const names = (await readdir(parent)).sort()
  const copies = names.filter((name) => !name.endsWith(draftSuffix))
  const surplus = names.filter((name) => name.endsWith(draftSuffix)).concat(copies.slice(0, -keptCopies))
  for (const name of surplus) await rm(join(parent, name), { recursive: true, force: true })
  return path
}
