// Node for the package: 24, and 20 for Debian 12, whose glibc (2.36) is too old for the builds of
// uWebSockets.js for Node 22 and 24 (2.38).
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../support/system/command.ts'

interface NodeRelease {
  version: string
  /** Names the files of native packages. */
  abi: number
  /** That of lmdb in its file names. */
  lmdbAbi: string
  /** The oldest glibc that the native packages take. */
  glibc: string
  /** Of the official binaries, as the registry has them. */
  integrity: Record<Architecture, string>
}

export type NodeMajor = '20' | '24'

export const nodeReleases: Record<NodeMajor, NodeRelease> = {
  20: {
    version: '20.20.2',
    abi: 115,
    lmdbAbi: 'abi115',
    glibc: '2.34',
    integrity: {
      x64: 'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
      arm64:
        'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
    },
  },
  24: {
    version: '24.21.0',
    abi: 137,
    lmdbAbi: 'napi',
    glibc: '2.38',
    integrity: {
      x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      arm64:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
  },
}

/** As Node and npm name it. Its native packages are published as binaries: nothing is compiled here. */
export type Architecture = 'x64' | 'arm64'

/** What a package is built for. */
export interface Target {
  architecture: Architecture
  node: NodeRelease
}

export async function addNode(product: string, { architecture, node }: Target): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-node-'))
  try {
    const name = `node-linux-${architecture}@${node.version}`
    const pack = ['pack', '--json', '--silent', '--pack-destination', directory, name]
    const [packed] = JSON.parse(await run('npm', pack)) as [{ filename: string; integrity: string }]
    if (packed.integrity !== node.integrity[architecture])
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
export async function keepRuntimeFiles(product: string, target: Target): Promise<void> {
  const modules = join(product, 'node_modules')
  for (const path of ['lmdb/dependencies', 'lmdb/src', 'argon2/argon2', 'cpu-features', 'uWebSockets.js/src'])
    await rm(join(modules, path), { recursive: true, force: true })
  const isUnread = (path: string) =>
    unreadFiles.test(path) || (path.endsWith('.node') && !isFor(target, path))
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (!existsSync(path)) continue
    if (entry.isDirectory()) {
      if (unreadFolders.test(path)) await rm(path, { recursive: true })
    } else if (isUnread(path) || (await isForeignProgram(path))) await rm(path)
    // The registry's modes are those of its authors' machines.
    else await chmod(path, path.endsWith(usedProgram) ? 0o755 : 0o644)
  }
}

const unreadFolders = /\/node_modules\/(@[^/]+\/)?[^/]+\/(tests?|__tests__|examples?|benchmarks?|\.github)$/
const unreadFiles = /\.(map|[cm]?ts|md|markdown|bare|cc?|cpp|hh?|gypi?|flow|png|html)$|\/\.[^/]+$/
/** `berth open` starts it where the host has none of its own. */
const usedProgram = '/open/xdg-open'

/** The programs of bundled packages are for their authors and for their own command lines. */
async function isForeignProgram(path: string): Promise<boolean> {
  if (path.endsWith(usedProgram)) return false
  const file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0).finally(() => file.close())
  return buffer.toString() === '#!'
}

function isFor({ architecture, node }: Target, path: string): boolean {
  const system = `linux[-_]${architecture}`
  const builds = [
    `/uWebSockets\\.js/uws_${system}_${node.abi}`,
    `/@lmdb/lmdb-${system}/node\\.${node.lmdbAbi}\\.glibc`,
    `/argon2/prebuilds/${system}/argon2(\\.armv8)?\\.glibc`,
  ]
  return new RegExp(`(${builds.join('|')})\\.node$`).test(path)
}
