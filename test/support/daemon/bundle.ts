// Bundles the product's programs. A process of a test starts from a few files, in a third of the time that
// loading hundreds takes.
import { readFileSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const home = fileURLToPath(new URL('../../..', import.meta.url))
/** With native code, or with named exports that a bundle loses when they are imported on demand. */
const unbundled = [
  'argon2',
  'lmdb',
  'uWebSockets.js',
  'ssh2',
  'cpu-features',
  '@peculiar/x509',
  'reflect-metadata',
  'tar-stream',
]

/** Writes the entry points as `<directory>/dist/src/main.js` and so on. Does not check types. */
export async function bundle(directory: string): Promise<void> {
  symlinkSync(join(home, 'node_modules'), join(directory, 'node_modules'))
  const require = `requireFrom(${JSON.stringify(pathToFileURL(join(home, 'package.json')))})`
  await build({
    absWorkingDir: home,
    entryPoints: ['src/main.ts', 'src/cli/main.ts', 'src/readers/reader.ts'],
    outbase: '.',
    outdir: join(directory, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['development'],
    external: unbundled,
    plugins: [keepLocations(directory)],
    // Libraries in CommonJS load Node's modules with `require`.
    banner: { js: `import { createRequire as requireFrom } from 'node:module'; const require = ${require};` },
  })
}

/** Modules find files next to their source, wherever the bundle is; the daemon finds the bundled reader. */
const keepLocations = (directory: string): Plugin => ({
  name: 'keep-locations',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const isReader = relative(home, path) === 'src/readers/read.ts'
      const url = JSON.stringify(pathToFileURL(isReader ? join(directory, 'dist/src/readers/read.js') : path))
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', url) }
    })
  },
})
