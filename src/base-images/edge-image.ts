// The edge image: the official one, or, if its registry does not respond, one with Debian's
// HAProxy and the libraries that it loads. --edge-image names another one; its `haproxy` needs TLS and a
// runtime socket.
import type { Engine } from '../docker/engine/client.ts'
import { loadImage } from '../docker/images/image-load.ts'
import { inspectImage } from '../docker/images/images.ts'
import { Failure, messageOf } from '../errors.ts'
import { PackagesMissing } from './debian-packages.ts'
import { type EnsureOptions, ensureImage, type Recipe } from './recipe.ts'
import type { RootFilesystem } from './root-filesystem.ts'

/** HAProxy 3.2.24 LTS on Alpine, all architectures: as the official images list it. */
export const officialEdgeImage =
  'haproxy@sha256:686211da34aba401814bb109c813db6a579491bc8753bfd81b78cce7d1e02f7c'

const settings = {
  Env: ['PATH=/usr/sbin:/usr/bin'],
  Labels: { 'berth.base': 'edge' },
  Entrypoint: ['haproxy'],
  Cmd: [],
}

const recipe: Recipe = {
  repository: 'localhost/berth',
  name: 'edge',
  version: 1,
  wish: {
    packages: ['haproxy'],
    // The only dependencies that HAProxy loads at run time.
    only: [
      'haproxy',
      'libc6',
      'libcrypt1',
      'liblua5.3-0',
      'liblua5.4-0',
      'libpcre2-8-0',
      'libssl3',
      'libssl3t64',
      'libsystemd0',
      'libopentracing-c-wrapper0',
      'libopentracing1',
      'libstdc++6',
      'libgcc-s1',
      'libcap2',
      'libgcrypt20',
      'libgpg-error0',
      'liblzma5',
      'libzstd1',
      'liblz4-1',
      'zlib1g',
      'libatomic1',
    ],
  },
  extra: JSON.stringify(settings),
  settings,
  finish,
}

/**
 * The name of the image, which is on the engine when this resolves; the first time takes a few seconds.
 * Throws `edge_image_missing` if Debian packages are unavailable, and the signal's reason.
 */
export async function ensureEdgeImage(engine: Engine, options: EnsureOptions): Promise<string> {
  const store = {
    has: async (reference: string) => (await inspectImage(engine, reference)) !== null,
    load: (archive: Buffer) => loadImage(engine, archive, options.signal),
  }
  try {
    return await ensureImage(store, recipe, options)
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error
    const problem = `the edge image could not be built from Debian packages: ${messageOf(error)}`
    throw new Failure('edge_image_missing', problem, '--edge-image names another image with HAProxy to use')
  }
}

async function finish(root: RootFilesystem): Promise<void> {
  if (!root.has('usr/sbin/haproxy')) throw new PackagesMissing('this release has no haproxy')
  // Character set conversions are two thirds of the C library.
  for (const path of root.paths('usr/lib')) if (path.includes('/gconv/')) root.remove(path)
  root.file('etc/passwd', 'root:x:0:0:root:/:/bin/false\n')
}
