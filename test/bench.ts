// npm run bench -- restore api: measures Berth's performance goals and prints a table. Runs all
// parts by default.
//   --quick        smaller sizes, to see that everything runs; such figures mean little
//   --runs N       how many job runs the part jobs makes, 1000 when left out
//   --json FILE    writes the figures as JSON too; `-` prints them after the table
//   --profile DIR  leaves there a CPU profile of every process that was measured
import { parseArgs } from 'node:util'
import { runParts } from './bench/bench.ts'
import { isPartName, type PartName, partNames } from './bench/parts.ts'
import { toJson, toTable, writeJson } from './bench/report.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    runs: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
  },
})
const strangers = positionals.filter((name) => !isPartName(name))
if (values.help || strangers.length > 0) {
  for (const name of strangers) console.error(`there is no part ${name}`)
  console.log(
    `npm run bench -- [--quick] [--runs N] [--json FILE] [--profile DIR] [PART …]\n` +
      `parts: ${partNames.join(' ')}`,
  )
  process.exit(strangers.length > 0 ? 2 : 0)
}
const names = positionals.length > 0 ? (positionals as PartName[]) : partNames
const results = await runParts(names, {
  isQuick: values.quick,
  profileDirectory: values.profile,
  runs: values.runs === undefined ? undefined : Number(values.runs),
  say: (words) => console.error(words),
})
console.log(toTable(results))
if (values.json === '-') console.log(toJson(results))
else if (values.json !== undefined) writeJson(values.json, results)
