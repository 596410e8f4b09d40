// The base image of static sites: nginx, which serves /site on $PORT, and index.html for missing pages if
// BERTH_SPA is 1. --static-image replaces it with an image that does the same.
import type { Engine } from '../docker/engine/client.ts'
import { loadImage } from '../docker/images/image-load.ts'
import { inspectImage } from '../docker/images/images.ts'
import { Failure, messageOf } from '../errors.ts'
import { PackagesMissing } from './debian-packages.ts'
import { type EnsureOptions, ensureImage, type ImageStore, type Recipe } from './recipe.ts'
import type { RootFilesystem } from './root-filesystem.ts'
import { serverFiles, serverUser, siteOwner } from './static-server-files.ts'

const settings = {
  Env: ['PATH=/usr/sbin:/usr/bin'],
  Labels: { 'berth.base': 'static-server' },
  Entrypoint: ['/usr/bin/serve-site'],
  Cmd: [],
  ExposedPorts: { '8080/tcp': {} },
  // On SIGTERM, nginx would abort running responses.
  StopSignal: 'SIGQUIT',
  User: `${serverUser}:${serverUser}`,
}

const recipe: Recipe = {
  repository: 'localhost/berth',
  name: 'static-server',
  version: 1,
  wish: {
    packages: ['nginx', 'libnginx-mod-http-brotli-filter', 'busybox-static'],
    // The only dependencies that these programs load at run time.
    only: [
      'nginx',
      'libnginx-mod-http-brotli-filter',
      'busybox-static',
      'libc6',
      'libcrypt1',
      'libpcre2-8-0',
      'libssl3',
      'libssl3t64',
      'zlib1g',
      'libbrotli1',
    ],
  },
  extra: JSON.stringify([settings, serverFiles]),
  settings,
  finish,
}

/**
 * The name of the image, which is on the engine when this resolves; the first time takes a few seconds.
 * Throws `static_server_missing` if Debian packages are unavailable, and the signal's reason.
 */
export async function ensureStaticServer(engine: Engine, options: EnsureOptions): Promise<string> {
  try {
    return await ensureImage(storeOf(engine, options.signal), recipe, options)
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error
    const problem = `the static server image could not be built from Debian packages: ${messageOf(error)}`
    throw new Failure('static_server_missing', `${problem} (--static-image names another image to use)`)
  }
}

function storeOf(engine: Engine, signal: AbortSignal | undefined): ImageStore {
  return {
    has: async (reference) => (await inspectImage(engine, reference)) !== null,
    load: (archive) => loadImage(engine, archive, signal),
  }
}

async function finish(root: RootFilesystem): Promise<void> {
  if (!root.has('usr/sbin/nginx')) throw new PackagesMissing('this release has no suitable nginx package')
  root.symlink('bin/sh', 'busybox')
  // Character set conversions are two thirds of the C library.
  for (const path of root.paths('usr/lib')) if (path.includes('/gconv/')) root.remove(path)
  root.file('etc/passwd', `site:x:${siteOwner}:${siteOwner}::/:/bin/false\n`)
  for (const { path, content, mode } of serverFiles) root.file(path, content, mode)
  root.directory('site')
}
