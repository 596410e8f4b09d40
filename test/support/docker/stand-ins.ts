// Images that stand in for the official ones that recipes build on: Debian's packages and programs of the
// npm registry. The versions in them may differ from the tag.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { addBaseSystem, basePackages, hostCertificates } from '../debian/base-system.ts'
import type { ImageSettings } from '../debian/image-archive.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { addSystem, baseLabel, type TestRecipe } from './images.ts'
import { unpackNpm } from './npm-pack.ts'

/** Files over an image of Debian's packages. */
export interface Layer {
  name: string
  base: TestRecipe
  /** What the files depend on. */
  inputs: string
  /** Of a Dockerfile. */
  lines: string[]
  fill(root: RootFilesystem): Promise<void>
}

interface StandIn {
  tag: RegExp
  /** `version` is what the tag says, as `22` or `3.13`. */
  make(version: string): TestRecipe | Layer
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
  { tag: /^node:([\d.]+)(?:-bookworm|-trixie)?-slim$/, make: (version) => node(version, runtime) },
  { tag: /^node:([\d.]+)(?:-bookworm|-trixie)?$/, make: (version) => node(version, compilers) },
  { tag: /^python:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => python },
  { tag: /^golang:[\d.]+(?:-bookworm|-trixie)?$/, make: () => go },
  { tag: /^ruby:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => ruby },
  { tag: /^dunglas\/frankenphp:1-php[\d.]+$/, make: () => php },
  { tag: /^rust:[\d.]+(?:-bookworm|-trixie)?(?:-slim)?$/, make: () => rust },
  { tag: /^maven:3-eclipse-temurin-\d+$/, make: () => maven },
  { tag: /^eclipse-temurin:\d+-jre$/, make: () => java },
  { tag: /^alpine:[\d.]+$/, make: () => alpine },
  { tag: /^oven\/bun:([\d.]+)(?:-debian|-slim)?$/, make: (version) => bun(version) },
  { tag: /^denoland\/deno:(?:debian-)?([\d.]+)$/, make: (version) => deno(version) },
  { tag: /^gcr\.io\/distroless\/(?:static|base|cc)-debian1[23](?::\w+)?$/, make: () => distroless },
]

const runtime = debian('bookworm', { name: 'runtime', packages: ['libstdc++6', 'usr-is-merged'] })
const compilers = debian('bookworm', {
  name: 'compilers',
  packages: ['g++', 'git', 'make', 'python3', 'pkg-config', 'usr-is-merged'],
})

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

const ruby = debian('trixie', {
  name: 'ruby',
  packages: ['ruby', 'ruby-dev', 'bundler'],
  env: ['GEM_HOME=/usr/local/bundle', 'BUNDLE_APP_CONFIG=/usr/local/bundle', 'BUNDLE_SILENCE_ROOT_WARNING=1'],
  async finish(root) {
    root.directory('usr/local/bundle', 0o1777)
  },
})

/** PHP's own server, started with the words of FrankenPHP: php-server --listen :PORT --root FOLDER. */
const php = debian('trixie', {
  name: 'php',
  packages: ['php8.4-cli'],
  async finish(root) {
    root.symlink('usr/bin/php', 'php8.4')
    root.file('usr/local/bin/frankenphp', '#!/bin/sh\nexec php -S "0.0.0.0$3" -t "$5"\n', 0o755)
  },
})

// Of the release that its programs then run on.
const rust = debian('bookworm', {
  name: 'rust',
  packages: ['cargo-web', 'gcc', 'libc6-dev'],
  env: ['CARGO_HOME=/usr/local/cargo'],
})

const java = debian('trixie', {
  name: 'java',
  packages: ['openjdk-21-jre-headless'],
  finish: async (root) => linkJava(root, ['java']),
})

/** Of Maven's packages, it has those that Debian has, and asks for no others. */
const maven = debian('trixie', {
  name: 'maven',
  packages: ['maven', 'maven-debian-helper', 'openjdk-21-jdk-headless'],
  env: ['JAVA_HOME=/usr/lib/jvm/default-java'],
  async finish(root) {
    linkJava(root, ['java', 'javac'])
    root.symlink('usr/local/bin/mvn', '/usr/share/maven/bin/mvn')
    root.file('etc/maven/settings.xml', root.read('etc/maven/settings-debian.xml'))
  },
})

const alpine: TestRecipe = {
  name: 'alpine',
  wish: { packages: ['busybox-static'] },
  extra: '',
  settings: { ...settings, Cmd: ['sh'] },
  finish: addSystem,
  substitute: null,
}

const distroless = debian('trixie', { name: 'distroless' })

/** Null if no image can stand in for it. */
export function findStandIn(reference: string): TestRecipe | Layer | null {
  for (const { tag, make } of standIns) {
    const match = tag.exec(reference)
    if (match) return make(match[1] ?? '')
  }
  return null
}

interface Additions {
  name?: string
  packages?: string[]
  env?: string[]
  finish?: (root: RootFilesystem) => Promise<void>
}

function debian(release: string, { name = '', packages = [], env = [], finish }: Additions) {
  const certificates = createHash('sha256').update(readFileSync(hostCertificates)).digest('hex')
  const recipe: TestRecipe = {
    name: `${name || 'debian'}-${release}`,
    wish: { packages: [...basePackages, ...packages], release },
    extra: certificates,
    settings: { ...settings, Env: [...settings.Env, ...env] },
    async finish(root, files) {
      await addBaseSystem(root, files, release)
      await finish?.(root)
    },
    substitute: null,
  }
  return recipe
}

function node(wanted: string, base: TestRecipe): Layer {
  const version = nodeVersions[wanted] ?? wanted
  const major = Number.parseInt(version, 10)
  const npm = major < 20 ? 'npm@10.9.9' : 'npm@11.6.2'
  return {
    name: 'node-standing-in',
    base,
    inputs: `${version} ${npm}`,
    lines: [`ENV NODE_VERSION=${version}`, 'RUN useradd --create-home --uid 1000 --shell /bin/bash node'],
    async fill(root) {
      const modules = 'usr/local/lib/node_modules'
      await unpackNpm(root, `node-${process.platform}-${process.arch}@${version}`, 'usr/local')
      await unpackNpm(root, npm, `${modules}/npm`)
      linkPrograms(root, `${modules}/npm/bin`, { npm: 'npm-cli.js', npx: 'npx-cli.js' })
      addHeaders(root, version)
      // Newer ones come without them.
      if (major < 25) await addManagers(root, modules)
    },
  }
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

function linkJava(root: RootFilesystem, programs: string[]): void {
  const [home = ''] = root.paths('usr/lib/jvm').flatMap((path) => /^(.*)\/bin\/java$/.exec(path)?.[1] ?? [])
  root.symlink('usr/lib/jvm/default-java', `/${home}`)
  for (const name of programs) root.symlink(`usr/local/bin/${name}`, `/${home}/bin/${name}`)
}

function linkPrograms(root: RootFilesystem, folder: string, programs: Record<string, string>): void {
  for (const [name, file] of Object.entries(programs)) {
    root.file(`${folder}/${file}`, root.read(`${folder}/${file}`), 0o755)
    root.symlink(`usr/local/bin/${name}`, `/${folder}/${file}`)
  }
}

function bun(wanted: string): Layer {
  const version = wanted.split('.').length === 3 ? wanted : '1.4.5'
  return {
    name: 'bun',
    base: runtime,
    inputs: version,
    lines: ['RUN useradd --create-home --uid 1000 bun'],
    async fill(root) {
      await unpackNpm(root, `@oven/bun-${process.platform}-${process.arch}@${version}`, 'opt/bun')
      linkPrograms(root, 'opt/bun/bin', { bun: 'bun', bunx: 'bun' })
    },
  }
}

function deno(wanted: string): Layer {
  const version = wanted.split('.').length === 3 ? wanted : '2.9.6'
  return {
    name: 'deno',
    base: runtime,
    inputs: version,
    lines: [
      'ENV DENO_TLS_CA_STORE=system DENO_DIR=/deno-dir',
      'RUN useradd --create-home --uid 1993 deno && install -d -o deno -g deno /deno-dir',
    ],
    async fill(root) {
      await unpackNpm(root, `@deno/${process.platform}-${process.arch}-glibc@${version}`, 'opt/deno')
      linkPrograms(root, 'opt/deno', { deno: 'deno' })
    },
  }
}
