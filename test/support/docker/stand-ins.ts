// Images that stand in for the official ones that recipes build on: Debian's packages and programs of the
// npm registry. The versions in them may differ from the tag.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { addAccount, addBaseSystem, basePackages, hostCertificates } from '../debian/base-system.ts'
import type { ImageSettings } from '../debian/image-archive.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { baseLabel, type TestRecipe } from './images.ts'
import { unpackNpm } from './npm-pack.ts'

interface StandIn {
  tag: RegExp
  /** `version` is what the tag says, as `22` or `3.13`. */
  make(version: string): TestRecipe
}

/** The newest of each line. */
const nodeVersions: Record<string, string> = {
  18: '18.20.8',
  20: '20.20.2',
  22: '22.23.3',
  24: '24.21.0',
  26: '26.12.1',
}

const settings: ImageSettings = {
  Env: [
    'PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
    'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
    // A mirror of the npm registry has no signatures.
    'COREPACK_INTEGRITY_CHECK=0',
  ],
  Cmd: ['bash'],
  Labels: { [baseLabel]: 'base' },
}

const standIns: StandIn[] = [
  { tag: /^debian:(bookworm|trixie)(?:-slim)?$/, make: (release) => debian(release, {}) },
  { tag: /^node:([\d.]+)(?:-bookworm|-trixie)?-slim$/, make: (version) => node(version, []) },
  { tag: /^node:([\d.]+)(?:-bookworm|-trixie)?$/, make: (version) => node(version, compilers) },
  { tag: /^python:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => python },
  { tag: /^golang:[\d.]+(?:-bookworm|-trixie)?$/, make: () => go },
  { tag: /^ruby:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => ruby },
  { tag: /^rust:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => rust },
  { tag: /^oven\/bun:([\d.]+)(?:-debian|-slim)?$/, make: (version) => bun(version) },
  { tag: /^denoland\/deno:(?:debian-)?([\d.]+)$/, make: (version) => deno(version) },
  { tag: /^gcr\.io\/distroless\/(?:static|base|cc)-debian1[23](?::\w+)?$/, make: () => distroless },
]

const compilers = ['g++', 'git', 'make', 'python3', 'pkg-config']

const python = debian('trixie', {
  name: 'python',
  packages: ['python3-pip', 'python3-venv'],
  async finish(root) {
    for (const name of ['python', 'python3']) root.symlink(`usr/local/bin/${name}`, '/usr/bin/python3.13')
    root.symlink('usr/local/bin/pip', '/usr/bin/pip3')
    // Debian's own pip refuses to install without it.
    root.remove('usr/lib/python3.13/EXTERNALLY-MANAGED')
  },
})

const go = debian('forky', {
  name: 'go',
  packages: ['golang-go', 'gcc', 'git', 'libc6-dev'],
  env: ['GOPATH=/go', 'GOTOOLCHAIN=local'],
})

const ruby = debian('trixie', { name: 'ruby', packages: ['ruby', 'ruby-dev', 'bundler'] })

const rust = debian('forky', {
  name: 'rust',
  packages: ['cargo', 'gcc', 'libc6-dev'],
  env: ['CARGO_HOME=/usr/local/cargo'],
})

const distroless = debian('trixie', { name: 'distroless' })

/** Null if no image can stand in for it. */
export function findStandIn(reference: string): TestRecipe | null {
  for (const { tag, make } of standIns) {
    const match = tag.exec(reference)
    if (match) return make(match[1] ?? '')
  }
  return null
}

interface Additions {
  name?: string
  packages?: string[]
  extra?: string
  env?: string[]
  finish?: (root: RootFilesystem) => Promise<void>
}

function debian(release: string, { name = '', packages = [], extra = '', env = [], finish }: Additions) {
  const certificates = createHash('sha256').update(readFileSync(hostCertificates)).digest('hex')
  const recipe: TestRecipe = {
    name: `${name || 'debian'}-${release}`,
    wish: { packages: [...basePackages, ...packages], release },
    extra: `${extra} ${certificates}`,
    settings: { ...settings, Env: [...settings.Env, ...env] },
    async finish(root, files) {
      await addBaseSystem(root, files, release)
      await finish?.(root)
    },
    substitute: null,
  }
  return recipe
}

function node(wanted: string, packages: string[]): TestRecipe {
  const version = nodeVersions[wanted] ?? wanted
  const major = Number.parseInt(version, 10)
  const npm = major < 20 ? 'npm@10.9.9' : 'npm@11.6.2'
  return debian('bookworm', {
    name: 'node',
    packages: ['libstdc++6', ...packages],
    extra: `${version} ${npm}`,
    env: [`NODE_VERSION=${version}`],
    async finish(root) {
      const modules = 'usr/local/lib/node_modules'
      await unpackNpm(root, `node-${process.platform}-${process.arch}@${version}`, 'usr/local')
      await unpackNpm(root, npm, `${modules}/npm`)
      linkPrograms(root, `${modules}/npm/bin`, { npm: 'npm-cli.js', npx: 'npx-cli.js' })
      addHeaders(root, version)
      // Newer ones come without them.
      if (major < 25) await addManagers(root, modules)
      root.directory('home/node')
      addAccount(root, 'node:x:1000:1000::/home/node:/bin/bash')
    },
  })
}

/** Where node-gyp keeps what it downloaded. */
function addHeaders(root: RootFilesystem, version: string): void {
  const folder = `root/.cache/node-gyp/${version}`
  root.symlink(`${folder}/include`, '/usr/local/include')
  root.file(`${folder}/installVersion`, '11\n')
}

async function addManagers(root: RootFilesystem, modules: string): Promise<void> {
  await unpackNpm(root, 'corepack@0.34.6', `${modules}/corepack`)
  linkPrograms(root, `${modules}/corepack/dist`, { corepack: 'corepack.js' })
  await unpackNpm(root, 'yarn@1.22.22', 'opt/yarn')
  linkPrograms(root, 'opt/yarn/bin', { yarn: 'yarn.js' })
}

function linkPrograms(root: RootFilesystem, folder: string, programs: Record<string, string>): void {
  for (const [name, file] of Object.entries(programs)) {
    root.file(`${folder}/${file}`, root.read(`${folder}/${file}`), 0o755)
    root.symlink(`usr/local/bin/${name}`, `/${folder}/${file}`)
  }
}

function bun(wanted: string): TestRecipe {
  const version = wanted.split('.').length === 3 ? wanted : '1.4.5'
  return debian('bookworm', {
    name: 'bun',
    extra: version,
    async finish(root) {
      await unpackNpm(root, `@oven/bun-${process.platform}-${process.arch}@${version}`, 'opt/bun')
      linkPrograms(root, 'opt/bun/bin', { bun: 'bun', bunx: 'bun' })
      addAccount(root, 'bun:x:1000:1000::/home/bun:/bin/sh')
    },
  })
}

function deno(wanted: string): TestRecipe {
  const version = wanted.split('.').length === 3 ? wanted : '2.9.6'
  return debian('bookworm', {
    name: 'deno',
    extra: version,
    env: ['DENO_TLS_CA_STORE=system', 'DENO_DIR=/deno-dir'],
    async finish(root) {
      await unpackNpm(root, `@deno/${process.platform}-${process.arch}-glibc@${version}`, 'opt/deno')
      linkPrograms(root, 'opt/deno', { deno: 'deno' })
      root.directory('deno-dir', 0o777)
      addAccount(root, 'deno:x:1993:1993::/home/deno:/bin/sh')
    },
  })
}
