// Bundles the product's programs. A process of a test starts from two files, in a third of the time that
// loading hundreds takes.
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
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

/** Writes `src/main.js` and `src/cli/main.js` to `<directory>/dist`. Does not check types. */
export async function bundle(directory: string): Promise<void> {
  symlinkSync(join(home, 'node_modules'), join(directory, 'node_modules'))
  const require = `requireFrom(${JSON.stringify(pathToFileURL(join(home, 'package.json')))})`
  await build({
    absWorkingDir: home,
    entryPoints: ['src/main.ts', 'src/cli/main.ts'],
    outbase: '.',
    outdir: join(directory, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['development'],
    external: unbundled,
    plugins: [keepLocations],
    // Libraries in CommonJS load Node's modules with `require`.
    banner: { js: `import { createRequire as requireFrom } from 'node:module'; const require = ${require};` },
  })
}

/** Modules find files next to their source, wherever the bundle is. */
const keepLocations: Plugin = {
  name: 'keep-locations',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const url = JSON.stringify(pathToFileURL(path))
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', url) }
    })
  },
}
