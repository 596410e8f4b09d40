// Compiles the product to JavaScript, as in production. Starting it from source through a loader takes
// twice as long.
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../system/command.ts'

/** The folders of the product. */
export const product = ['src', 'machines', 'storage']

const home = fileURLToPath(new URL('../../..', import.meta.url))

/** Writes to `<directory>/dist`, next to the files that the built code looks for. Does not check types. */
export async function compile(directory: string, folders: readonly string[]): Promise<void> {
  const config = {
    extends: join(home, 'tsconfig.build.json'),
    compilerOptions: { outDir: join(directory, 'dist'), rootDir: home, noCheck: true },
    include: folders.map((folder) => join(home, folder)),
  }
  symlinkSync(join(home, 'node_modules'), join(directory, 'node_modules'))
  copyFileSync(join(home, 'package.json'), join(directory, 'package.json'))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  await run(process.execPath, [join(home, 'node_modules/typescript/bin/tsc'), '-p', directory])
}
