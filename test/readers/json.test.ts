// JSON of strangers: the same answer from the event loop and from a reader.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxInlineBytes, readBody } from '../../src/readers/json.ts'

const blanks = ' '.repeat(maxInlineBytes)

async function outcomeOf(text: string | Buffer) {
  try {
    return await readBody(Buffer.from(text), { owner: 'test' })
  } catch (error) {
    return (error as Error).message
  }
}

const many = 'the JSON has more than 10000 values, or is nested more than 200 levels deep'
const cases: [text: string | Buffer, outcome: unknown][] = [
  ['{"a":[1,"é",null]}', { a: [1, 'é', null] }],
  ['{"a":', 'the body is not valid JSON'],
  [Buffer.from([0x22, 0xff, 0x22]), 'the body is not valid UTF-8'],
  ['"\\ud800"', 'the body has an unpaired surrogate: one of \\ud800 to \\udfff without its counterpart'],
  ['"\\ud83d\\ude00"', '😀'],
  ['['.repeat(300) + ']'.repeat(300), many],
]

for (const [text, outcome] of cases)
  test(`${text.toString().slice(0, 20)}: ${JSON.stringify(outcome)}`, async () => {
    assert.deepEqual(await outcomeOf(text), outcome)
    assert.deepEqual(await outcomeOf(Buffer.concat([Buffer.from(text), Buffer.from(blanks)])), outcome)
  })

test('a body of a megabyte of empty lists is refused by their number', async () => {
  assert.equal(await outcomeOf(`[${'[],'.repeat(350_000)}[]]`), many)
})
