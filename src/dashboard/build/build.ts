// `npm run build` runs this after the compiler: it writes the layouts of the charts, the pages, and their
// compressed forms.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { toChartGraph } from '../../../machines/graph.ts'
import { catalogue } from '../../../machines/index.ts'
import { labelOf } from '../chart/words.ts'
import { layOut } from './layout-charts.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const assets = join(home, '../../dist/dashboard/assets')

await writeLayouts()
await build({ configFile: join(home, 'vite.config.ts'), logLevel: 'warn' })
for (const name of readdirSync(assets).filter((name) => /\.(js|css)$/.test(name)))
  compress(join(assets, name))

async function writeLayouts(): Promise<void> {
  const folder = join(home, 'chart/layouts')
  mkdirSync(folder, { recursive: true })
  for (const [kind, { machine }] of Object.entries(catalogue)) {
    const layout = await layOut(toChartGraph(machine), labelOf)
    writeFileSync(join(folder, `${kind}.json`), JSON.stringify(layout))
  }
}

function compress(path: string): void {
  const bytes = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}
