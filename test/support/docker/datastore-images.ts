// Real PostgreSQL 15 and Redis 7, built from Debian packages, with the contract of the official images:
// variables, folders, user, and PostgreSQL's two data locations. PostgreSQL 17 comes from a newer Debian.
// The tag 18 uses the newer data location; the server in it is still 15.
import { repository } from '../debian/recipe.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { postgresEntrypoint, redisEntrypoint } from './datastore-entrypoints.ts'
import { ensureEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'
import { addSystem, ensureTestImage, type TestRecipe } from './images.ts'

interface DatastoreImages {
  /** The values for --postgres-image and --redis-image; `{version}` is 15, 17 or 18, and 7. */
  postgres: string
  redis: string
}

/** Dependencies that only installation scripts and other uses need. */
const without = [
  'adduser',
  'base-passwd',
  'debconf',
  'dpkg',
  'gcc-12-base',
  'gcc-14-base',
  'init-system-helpers',
  'libc-l10n',
  'libdb5.3',
  'locales',
  'libgdbm6',
  'libgdbm-compat4',
  'libjson-perl',
  'libgdbm6t64',
  'libgdbm-compat4t64',
  'libio-pty-perl',
  'libipc-run-perl',
  'libllvm14',
  'libllvm19',
  'libpam-modules',
  'libpam-modules-bin',
  'libperl5.36',
  'libperl5.40',
  'libsemanage2',
  'libsemanage-common',
  'libsepol2',
  'libz3-4',
  'lsb-base',
  'netbase',
  'openssl',
  'perl',
  'perl-base',
  'perl-modules-5.36',
  'perl-modules-5.40',
  'postgresql-client-common',
  'postgresql-common',
  'postgresql-common-dev',
  'procps',
  'sensible-utils',
  'ssl-cert',
  'sysvinit-utils',
  'tar',
  'ucf',
  'usrmerge',
  'util-linux-extra',
]

const postgresTools = ['util-linux', 'libc-bin', 'tzdata', 'busybox-static']

type Server = { server: '15' } | { server: '17'; release: 'trixie' }

function postgres(
  version: '15' | '17' | '18',
  { server, ...from }: Server,
  data = '/var/lib/postgresql/data',
  volume = data,
): TestRecipe {
  const entrypoint = postgresEntrypoint(volume)
  const settings = {
    Env: [
      `PATH=/usr/lib/postgresql/${server}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      `PGDATA=${data}`,
      'LANG=C.UTF-8',
    ],
    Labels: { 'berth.test': 'base' },
    Volumes: { [volume]: {} },
    ExposedPorts: { '5432/tcp': {} },
    StopSignal: 'SIGINT',
    Entrypoint: ['docker-entrypoint.sh'],
    Cmd: ['postgres'],
  }
  return {
    name: `postgres-${version}`,
    wish: { packages: [`postgresql-${server}`, ...postgresTools], without, ...from },
    extra: entrypoint,
    settings,
    finish: (root) => finishPostgres(root, server, entrypoint),
    substitute: `postgres:${version}-alpine`,
  }
}

const redisSettings = {
  Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'],
  Labels: { 'berth.test': 'base' },
  WorkingDir: '/data',
  Volumes: { '/data': {} },
  ExposedPorts: { '6379/tcp': {} },
  Entrypoint: ['docker-entrypoint.sh'],
  Cmd: ['redis-server'],
}

const redis: TestRecipe = {
  name: 'redis-7',
  wish: { packages: ['redis-server', 'util-linux', 'busybox-static'], without },
  extra: redisEntrypoint,
  settings: redisSettings,
  async finish(root) {
    await addSystem(root)
    root.file('usr/bin/docker-entrypoint.sh', redisEntrypoint, 0o755)
    addAccount(root, 'redis:x:999:1000::/data:/bin/sh', 'redis:x:1000:')
    root.directory('data')
  },
  substitute: 'redis:7-alpine',
}

/** Resolves when the images are on the engine; the first run takes half a minute. */
export async function datastoreImages(): Promise<DatastoreImages> {
  const engine = await ensureEngine()
  const recipes = {
    'postgres:15': postgres('15', { server: '15' }),
    'postgres:17': postgres('17', { server: '17', release: 'trixie' }),
    'postgres:18': postgres('18', { server: '15' }, '/var/lib/postgresql/18/docker', '/var/lib/postgresql'),
    'redis:7': redis,
  }
  for (const [name, recipe] of Object.entries(recipes)) {
    const [repo, tag] = `${repository}/${name}`.split(':')
    const image = await ensureTestImage(engine, recipe)
    const query = new URLSearchParams({ repo: repo!, tag: tag! })
    await requestEngine(engine, `/images/${encodeURIComponent(image)}/tag?${query}`, { method: 'POST' })
  }
  return { postgres: `${repository}/postgres:{version}`, redis: `${repository}/redis:{version}` }
}

async function finishPostgres(root: RootFilesystem, server: string, entrypoint: string): Promise<void> {
  await addSystem(root)
  // Compiling queries at run time needs LLVM, which is larger than everything else. The server
  // works without it.
  for (const file of root.paths(`usr/lib/postgresql/${server}/lib`)) {
    if (/\/bitcode\/|\/llvmjit/.test(file)) root.remove(file)
  }
  const sample = `usr/share/postgresql/${server}/postgresql.conf.sample`
  const text = root
    .read(sample)
    .toString()
    .replace(/^#(listen_addresses = )'localhost'/m, "$1'*'")
  root.file(sample, text)
  root.file('usr/bin/docker-entrypoint.sh', entrypoint, 0o755)
  addAccount(root, 'postgres:x:70:70::/var/lib/postgresql:/bin/sh', 'postgres:x:70:')
  root.directory('var/lib/postgresql')
  root.directory('docker-entrypoint-initdb.d')
  root.directory('run/postgresql', 0o1777)
  root.symlink('var/run', '../run')
}

function addAccount(root: RootFilesystem, user: string, group: string): void {
  root.file('etc/passwd', `${root.read('etc/passwd')}${user}\n`)
  root.file('etc/group', `${root.read('etc/group')}${group}\n`)
}
