// Builds the dashboard if its sources are newer than what was built.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../system/command.ts'

const home = fileURLToPath(new URL('../../..', import.meta.url))
const document = join(home, 'dist/dashboard/index.html')
const sources = ['src/dashboard', 'src/api', 'machines', 'package-lock.json']

export async function ensureDashboard(): Promise<void> {
  const builtMs = statSync(document, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (sources.every((source) => newestMs(join(home, source)) < builtMs)) return
  await run(process.execPath, ['--import', 'tsx', join(home, 'src/dashboard/build/build.ts')])
}

function newestMs(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  const inside = readdirSync(path, { recursive: true, encoding: 'utf8' })
  // The build itself writes the layouts.
  const files = inside.filter((name) => !name.startsWith('chart/layouts'))
  return Math.max(...files.map((name) => statSync(join(path, name)).mtimeMs))
}
