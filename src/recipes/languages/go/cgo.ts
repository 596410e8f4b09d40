// Modules of Go that are bindings of C libraries.
import type { Tree } from '../../tree.ts'

interface Binding {
  module: string
  /** Packages of Debian. */
  build: string[]
  run: string[]
}

const bindings: Binding[] = [
  { module: 'github.com/mattn/go-sqlite3', build: [], run: [] },
  { module: 'github.com/confluentinc/confluent-kafka-go', build: [], run: [] },
  { module: 'github.com/marcboeker/go-duckdb', build: [], run: ['libstdc++6'] },
  { module: 'github.com/h2non/bimg', build: ['libvips-dev'], run: ['libvips42'] },
  { module: 'github.com/davidbyttow/govips', build: ['libvips-dev'], run: ['libvips42'] },
  { module: 'gopkg.in/gographics/imagick', build: ['libmagickwand-dev'], run: ['libmagickwand-6.q16-6'] },
  { module: 'github.com/chai2010/webp', build: [], run: [] },
]

/** Null for pure Go. Several such modules are together in one. */
export function findCgo(tree: Tree): Binding | null {
  const text = tree
    .find(/(^|\/)go\.mod$/)
    .map((path) => tree.text(path))
    .join('\n')
  const found = bindings.filter(({ module }) => text.includes(`${module} v`) || text.includes(`${module}/v`))
  if (found.length === 0) return null
  return {
    module: found.map(({ module }) => module).join(', '),
    build: found.flatMap(({ build }) => build),
    run: found.flatMap(({ run }) => run),
  }
}
