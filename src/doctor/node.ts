// The Node that runs this, how long it gets fixes, and who installs them; and where Berth itself comes from.
import { readdir, readFile, realpath } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

/** The last day of security fixes, by major version. */
const endsOfLife: Record<string, string> = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30' }
const home = fileURLToPath(new URL('../..', import.meta.url))

interface NodeFacts {
  version: string
  path: string
  /** `2026-04-30` */
  today: string
}

export async function checkNode(
  _: Examined,
  __: AbortSignal,
  facts?: NodeFacts,
): Promise<Finding[] | string> {
  const { version, path, today } = facts ?? {
    version: process.versions.node,
    path: await realpath(process.execPath),
    today: new Date().toISOString().slice(0, 10),
  }
  const end = endsOfLife[version.split('.')[0]!]
  const isOver = end !== undefined && end < today
  const owner = await packageOf(path)
  const found = [
    ...(isOver ? [finding('node_end_of_life', { version, end })] : []),
    ...(owner === null ? [finding('node_unmanaged', { version, path })] : []),
  ]
  const origin = await packageOf(fileURLToPath(import.meta.url))
  const berth = origin === null ? `the tree ${home}` : `the package ${origin}`
  return found.length > 0 ? found : `Node ${version} from the package ${owner}; Berth from ${berth}`
}

/** The Debian package that updates this file; null without one. */
async function packageOf(path: string): Promise<string | null> {
  const folder = '/var/lib/dpkg/info'
  const lists = (await readdir(folder).catch(() => [])).filter((name) =>
    /^(nodejs|berth)\b.*\.list$/.test(name),
  )
  for (const name of lists) {
    const files = await readFile(`${folder}/${name}`, 'utf8').catch(() => '')
    if (files.split('\n').includes(path)) return name.replace(/(:\w+)?\.list$/, '')
  }
  return null
}
