// The rules of the house as tests. Each is tried on small trees first, so that none can pass by being blind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type RuleName, rules } from './support/tidy/rules.ts'
import { samples } from './support/tidy/samples.ts'
import { describeFinding, readTree } from './support/tidy/tree.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const names = Object.keys(rules) as RuleName[]

for (const name of names) {
  const findings = (files: Record<string, string>) =>
    rules[name](new Map(Object.entries(files))).map(describeFinding)

  test(`the rule "${name}" accepts valid text and names each violation`, () => {
    assert.deepEqual(findings(samples[name].clean), [])
    for (const { files, says } of samples[name].broken) assert.deepEqual(findings(files), says)
  })
}

const tree = readTree(home)

for (const name of names) {
  test(name, () => {
    const findings = rules[name](tree).map(describeFinding)
    if (findings.length > 0) assert.fail(findings.join('\n'))
  })
}
