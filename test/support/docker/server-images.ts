// The images that the product pulls by default: HAProxy for `--edge-image`, nginx, and a server of static
// sites for `--static-image`.

import {
  entrypoint,
  serverFiles,
  serverUser,
  siteOwner,
} from '../../../src/builders/static-site/site-server.ts'
import { sitePort } from '../../../src/domain/service-types.ts'
import type { RootFilesystem } from '../debian/root-filesystem.ts'
import { ensureEngine } from './engine.ts'
import { ensureTestImage, type TestRecipe } from './images.ts'

const settings = {
  Env: ['PATH=/usr/sbin:/usr/bin'],
  Labels: { 'berth.test': 'base' },
  Entrypoint: [],
  Cmd: [],
}

/** What the programs load at run time, of the libraries that their packages depend on. */
const libraries = [
  'libc6',
  'libcrypt1',
  'libpcre2-8-0',
  'libssl3',
  'libssl3t64',
  'zlib1g',
  'libatomic1',
  'libcap2',
  'libgcc-s1',
  'libgcrypt20',
  'libgpg-error0',
  'liblua5.3-0',
  'liblua5.4-0',
  'liblz4-1',
  'liblzma5',
  'libopentracing-c-wrapper0',
  'libopentracing1',
  'libstdc++6',
  'libsystemd0',
  'libzstd1',
]

const haproxy: TestRecipe = {
  name: 'haproxy',
  wish: { packages: ['haproxy'], only: ['haproxy', ...libraries] },
  extra: '',
  settings: { ...settings, Entrypoint: ['haproxy'] },
  async finish(root) {
    removeConversions(root)
    root.file('etc/passwd', 'root:x:0:0:root:/:/bin/false\n')
  },
  substitute: 'haproxy:3.2-alpine',
}

const nginx: TestRecipe = {
  name: 'nginx',
  wish: {
    packages: ['nginx', 'busybox-static'],
    only: ['nginx', 'busybox-static', ...libraries],
  },
  extra: '',
  // As the official image.
  settings: { ...settings, ExposedPorts: { '80/tcp': {} } },
  async finish(root) {
    removeConversions(root)
    for (const program of ['sh', 'cat', 'chown']) root.symlink(`usr/bin/${program}`, 'busybox')
    root.file('etc/passwd', `site:x:${siteOwner}:${siteOwner}::/:/bin/false\n`)
  },
  substitute: 'nginx:1.28-alpine-slim',
}

const siteServer: TestRecipe = {
  ...nginx,
  name: 'site-server',
  extra: JSON.stringify(serverFiles),
  settings: {
    ...settings,
    Entrypoint: ['sh', entrypoint],
    ExposedPorts: { [`${sitePort}/tcp`]: {} },
    StopSignal: 'SIGQUIT',
    User: `${serverUser}:${serverUser}`,
  },
  async finish(root, files) {
    await nginx.finish(root, files)
    for (const [path, content] of Object.entries(serverFiles)) root.file(path, content)
    root.directory('site')
  },
  substitute: null,
}

/** For `--edge-image`. */
export const haproxyImage = () => ensure(haproxy)
export const nginxImage = () => ensure(nginx)
/** For `--static-image`. */
export const siteServerImage = () => ensure(siteServer)

async function ensure(recipe: TestRecipe): Promise<string> {
  return ensureTestImage(await ensureEngine(), recipe)
}

/** Character set conversions are two thirds of the C library. */
function removeConversions(root: RootFilesystem): void {
  for (const path of root.paths('usr/lib')) if (path.includes('/gconv/')) root.remove(path)
}
