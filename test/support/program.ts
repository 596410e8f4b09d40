// The programs of the product as processes: what `npm test` has compiled, else the source.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const home = fileURLToPath(new URL('../..', import.meta.url))
const loader = join(home, 'node_modules/tsx/dist/esm/index.mjs')

/** What `npm test` tells its files: the folder of the compiled programs. */
export const compiledVariable = 'BERTH_TEST_COMPILED'

/** Node's arguments that run one, in whatever folder. With the checks that xstate has for development. */
export function programArgs(name: 'src/main' | 'src/cli/main'): string[] {
  const compiled = process.env[compiledVariable]
  const conditions = '--conditions=development'
  if (compiled) return [conditions, join(compiled, `${name}.js`)]
  return [conditions, '--import', loader, join(home, `${name}.ts`)]
}
