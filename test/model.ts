// npm run model -- --sequences 10000 --seed 7: plays random event sequences of deploys and compares each with
// the model in test/model/life.ts.
//   --sequences N   number of sequences, 10,000 by default
//   --seed S        seed of random choices, random by default; it is printed
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStorage } from '../storage/index.ts'
import { type Chance, tryStories } from './model/story.ts'

async function main(chance: Chance): Promise<void> {
  console.log(`${chance.sequences} sequences, seed ${chance.seed}`)
  const directory = mkdtempSync(join(tmpdir(), 'berth-model-'))
  const onPanic = (reason: string) => {
    throw new Error(reason)
  }
  const storage = await openStorage(directory, { onPanic })
  const startedAt = performance.now()
  try {
    const tally = await tryStories(storage, chance)
    const rows = [
      ...Object.entries(tally),
      ['duration', `${Math.round((performance.now() - startedAt) / 1000)} s`],
    ]
    console.log(rows.map(([name, value]) => `${String(name).padEnd(28)}${value}`).join('\n'))
  } finally {
    await storage.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    sequences: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
})
if (values.help) console.log('npm run model -- [--sequences N] [--seed S]')
else await main({ sequences: Number(values.sequences), seed: Number(values.seed ?? randomInt(1_000_000)) })
