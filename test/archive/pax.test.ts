// Extended headers: what they say of the next entry, and that no bytes of one can hold up the daemon.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePax } from '../../src/archive/pax.ts'
import { codeOf } from '../../src/errors.ts'
import { sized } from '../support/system/drill-size.ts'

const parse = (text: string) => parsePax(Buffer.from(text))

test('the last name, link and size are used, and all other records are ignored', () => {
  assert.deepEqual(parse('9 path=x\n13 comment=x\n16 path=a/ünï\n19 linkpath=../b=c\n13 size=1234\n'), {
    name: 'a/ünï',
    linkName: '../b=c',
    sizeBytes: 1234,
  })
  assert.deepEqual(parse(''), {})
  assert.deepEqual(parse('9 path=\n\n'), { name: '\n' })
})

test('arbitrary bytes are parsed completely or refused', () => {
  const word = fc.constantFrom(
    '9 path=x\n',
    '6 a=b\n',
    '5 a=\n',
    ' ',
    '=',
    '\n',
    '0',
    '7',
    '12 ',
    '-3 a=b\n',
    'more',
  )
  const property = fc.property(fc.array(word, { maxLength: 12 }), (words) => {
    try {
      parse(words.join(''))
    } catch (error) {
      assert.equal(codeOf(error), 'archive_invalid')
    }
  })
  fc.assert(property, { numRuns: sized(2000, 20_000) })
})
