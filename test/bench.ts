// npm run bench -- start api: measures Berth's performance goals and prints a table. Runs all
// parts by default.
//   --quick        smaller sizes, to check that everything runs; the figures are not meaningful
//   --profile DIR  writes a CPU profile of every measured process to this directory
import { parseArgs } from 'node:util'
import { runParts } from './bench/bench.ts'
import { isPartName, type PartName, partNames } from './bench/parts.ts'
import { toTable } from './bench/report.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const unknown = positionals.filter((name) => !isPartName(name))
if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`unknown part ${name}`)
  console.log(`npm run bench -- [--quick] [--profile DIR] [PART …]\nparts: ${partNames.join(' ')}`)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const names = positionals.length > 0 ? (positionals as PartName[]) : partNames
const results = await runParts(names, {
  isQuick: values.quick,
  profileDirectory: values.profile,
  log: (text) => console.error(text),
})
console.log(toTable(results))
