// The product's programs as processes, from the code that `npm test` has compiled, else from source.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const home = fileURLToPath(new URL('../../..', import.meta.url))
const loader = join(home, 'node_modules/tsx/dist/esm/index.mjs')

/** Set by `npm test`: the folder of the compiled programs. */
export const compiledVariable = 'BERTH_TEST_COMPILED'

/** Node's arguments to run a program from any directory, with xstate's development checks. */
export function programArgs(name: 'src/main' | 'src/cli/main'): string[] {
  const compiled = process.env[compiledVariable]
  const conditions = '--conditions=development'
  if (compiled) return [conditions, join(compiled, `${name}.js`)]
  return [conditions, '--import', loader, join(home, `${name}.ts`)]
}
