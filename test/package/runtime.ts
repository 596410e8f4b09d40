// Node for the package. Debian 12 has Node 18, and the builds of uWebSockets.js for Node 22 and 24 need a
// newer glibc (2.38) than it has: so the package has a Node 20 of its own, the same on Debian 12 and 13.
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../support/system/command.ts'

export const nodeVersion = '20.20.2'
/** The ABI of Node 20, which names the files of native packages. */
const nodeAbi = 115

/** The official binaries, as the registry has them. */
const integrity: Record<string, string> = {
  x64: 'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
  arm64: 'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
}

export async function addNode(product: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-node-'))
  try {
    const name = `node-linux-${process.arch}@${nodeVersion}`
    const pack = ['pack', '--json', '--silent', '--pack-destination', directory, name]
    const [packed] = JSON.parse(await run('npm', pack)) as [{ filename: string; integrity: string }]
    if (packed.integrity !== integrity[process.arch])
      throw new Error(`${name} is not the one that was tried: its checksum is ${packed.integrity}`)
    await run('tar', ['-xzf', join(directory, packed.filename), '-C', directory])
    await mkdir(join(product, 'bin'))
    await copyFile(join(directory, 'package/bin/node'), join(product, 'bin/node'))
    await copyFile(join(directory, 'package/LICENSE'), join(product, 'bin/LICENSE'))
    await chmod(join(product, 'bin/node'), 0o755)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Removes what no start reads: documents, tests, types, and builds for other systems and other Nodes. */
export async function keepRuntimeFiles(product: string): Promise<void> {
  const modules = join(product, 'node_modules')
  for (const path of ['lmdb/dependencies', 'lmdb/src', 'argon2/argon2', 'uWebSockets.js/src'])
    await rm(join(modules, path), { recursive: true, force: true })
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (isUnread(path, entry.isDirectory())) await rm(path, { recursive: true, force: true })
    // They are read, not run: the registry's modes are those of its authors' machines.
    else if (entry.isFile()) await chmod(path, 0o644)
  }
}

const unreadFolders = /\/node_modules\/(@[^/]+\/)?[^/]+\/(tests?|__tests__|examples?|benchmarks?|\.github)$/
const unreadFiles = /\.(map|[cm]?ts|md|markdown|bare|cc?|cpp|hh?|gypi?|flow|png|html)$|\/\.[^/]+$/

function isUnread(path: string, isFolder: boolean): boolean {
  if (isFolder) return unreadFolders.test(path)
  if (!existsSync(path)) return true
  return unreadFiles.test(path) || (path.endsWith('.node') && !isForThisNode(path))
}

function isForThisNode(path: string): boolean {
  const system = `linux[-_]${process.arch}`
  const builds = [
    `/uWebSockets\\.js/uws_${system}_${nodeAbi}`,
    `/@lmdb/lmdb-${system}/node\\.abi${nodeAbi}\\.glibc`,
    `/argon2/prebuilds/${system}/argon2\\.glibc`,
  ]
  return new RegExp(`(${builds.join('|')})\\.node$`).test(path)
}
