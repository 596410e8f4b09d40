// Env files: what a line means, what is refused with which line, and that values survive a round trip.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { envFileLimitMib, parseEnvFile, toEnvLine } from '../../src/domain/env-file.ts'
import { sized } from '../support/system/drill-size.ts'

const limitChars = envFileLimitMib * 1024 * 1024

/** The cases that Docker Compose documents or tests, except interpolation. */
const values: Record<string, string> = {
  // Quotes and comments
  'VAR=VAL': 'VAL',
  'VAR="VAL"': 'VAL',
  "VAR='VAL'": 'VAL',
  'VAR=VAL # comment': 'VAL',
  'VAR=VAL #': 'VAL',
  'VAR=VAL# not a comment': 'VAL# not a comment',
  'VAR=sec#ret': 'sec#ret',
  'VAR=x=y#z': 'x=y#z',
  'VAR=#fff': '#fff',
  'VAR= # comment': '',
  'VAR=a\t#b': 'a\t#b',
  'VAR="VAL # not a comment"': 'VAL # not a comment',
  'VAR="VAL" # comment': 'VAL',
  'VAR="VAL"#comment': 'VAL',
  "VAR='VAL' # it's a comment": 'VAL',
  // Blanks
  ' VAR =  VAL  ': 'VAL',
  'VAR=two words': 'two words',
  'VAR="  outer  "': '  outer  ',
  'VAR=': '',
  'VAR=""': '',
  'export VAR=VAL': 'VAL',
  '\texport\tVAR=VAL': 'VAL',
  // Escapes
  "VAR='Let\\'s go!'": "Let's go!",
  'VAR="{\\"hello\\": \\"json\\"}"': '{"hello": "json"}',
  'VAR="a\\"b"': 'a"b',
  'VAR="some\\tvalue"': 'some\tvalue',
  "VAR='some\\tvalue'": 'some\\tvalue',
  'VAR=some\\tvalue': 'some\\tvalue',
  'VAR="Z\\aZ\\bZ\\fZ\\nZ\\rZ\\tZ\\vZ\\\\Z\\0123Z"': 'Z\x07Z\bZ\fZ\nZ\rZ\tZ\vZ\\ZSZ',
  'VAR="bar\\\\\\n\\ b\\az"': 'bar\\\n\\ b\x07z',
  'VAR="bar\\nbaz\\\\"': 'bar\nbaz\\',
  'VAR="\\x07 \\u12e4"': '\\x07 \\u12e4',
  // Quotes inside
  'VAR="it\'s"': "it's",
  "VAR=it's": "it's",
  'VAR=say "x"': 'say "x"',
  'VAR=`x`': '`x`',
  // A dollar sign is literal.
  'VAR=$OTHER': '$OTHER',
  'VAR=${OTHER:-x}$$': '${OTHER:-x}$$',
  'VAR="$OTHER ${OTHER}"': '$OTHER ${OTHER}',
  'VAR="\\$OTHER"': '$OTHER',
  "VAR='$OTHER'": '$OTHER',
  'VAR=${{service.shop.host}}': '${{service.shop.host}}',
  // Lines and encodings
  "VAR='one\ntwo\n'": 'one\ntwo\n',
  'VAR="one\r\ntwo"': 'one\r\ntwo',
  'VAR=VAL\r\n': 'VAL',
  'VAR="VAL"\r\n': 'VAL',
  '\uFEFFVAR=VAL': 'VAL',
  'VAR=漢字 ünï': '漢字 ünï',
  '\r\n# VAR=no\r\n  # VAR=no\n\nVAR=VAL\n\t\n': 'VAL',
}

for (const [text, value] of Object.entries(values)) {
  test(`${JSON.stringify(text)} is ${JSON.stringify(value)}`, () => {
    assert.deepEqual(parseEnvFile(text), [{ key: 'VAR', value }])
  })
}

test('variables follow each other, whatever their quotes, comments and line ends', () => {
  const text = `# one\r\nA=1 # a\r\nB="two\nlines" # b\n\n export C='x'\nD=\nE=last`
  assert.deepEqual(
    parseEnvFile(text).map(({ key, value }) => `${key}=${value}`),
    ['A=1', 'B=two\nlines', 'C=x', 'D=', 'E=last'],
  )
})

const rule = 'must be letters, digits and _, and not start with a digit'
const refused: [text: string, message: string][] = [
  ['KEY', 'line 1: there is no ='],
  ['A=1\n\nexport KEY\nB=2', 'line 3: there is no ='],
  ['A="x\ny"\njust words', 'line 3: there is no ='],
  ['A: 1', 'line 1: there is no ='],
  ['A=1\nMY-KEY=1', `line 2: MY-KEY ${rule}`],
  ['TWO WORDS=1', `line 1: the name ${rule}`],
  ['=nothing', `line 1: the name ${rule}`],
  ['MIIEow/IBAAK+secret==', `line 1: the name ${rule}`],
  ['A="x" y', 'line 1: there is text after the closing " of A'],
  [`A='it's'`, "line 1: there is text after the closing ' of A"],
  ['A=1\nB="x\ny"z\nC=3', 'line 3: there is text after the closing " of B'],
  ['A=1\nB="x\nC=3', 'line 2: the value of B has no closing "'],
  ['A=1\n# B\nA=1', 'line 3: A is set a second time'],
  ["A='x\\'", "line 1: the value of A has no closing '"],
]

for (const [text, message] of refused) {
  test(`${JSON.stringify(text)} is refused: ${message}`, () => {
    assert.throws(() => parseEnvFile(text), { message })
  })
}

test('what is written as lines reads back the same, also with other line ends around it', () => {
  const special = [...'\r\n"\'`\\$#= \t\x01\x7f\x85\xa0\u2028\uFEFF', '${{', '$${{service.a.host}}', ' #']
  const piece = fc.oneof(
    fc.constantFrom(...special, '\\n', '\\0123', 'export '),
    fc.string({ unit: 'binary' }),
  )
  const value = fc.array(piece).map((pieces) => pieces.join('').replaceAll('\0', ''))
  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]*$/)
  const vars = fc.uniqueArray(fc.record({ key, value }, { noNullPrototype: true }), {
    selector: (one) => one.key,
  })
  fc.assert(
    fc.property(vars, fc.constantFrom('\n', '\r\n', '\n# comment\n\n'), (expected, separator) => {
      assert.deepEqual(parseEnvFile(expected.map(toEnvLine).join(separator)), expected)
    }),
    { numRuns: sized(300, 3000) },
  )
})

test('a line is as plain as its value allows', () => {
  const lines: Record<string, string> = {
    'postgres://a:b@c:5432/d?e=f': "KEY='postgres://a:b@c:5432/d?e=f'",
    plain: 'KEY=plain',
    '': 'KEY=',
    'pa$$ "word"': `KEY='pa$$ "word"'`,
    "it's $5\t\\": 'KEY="it\'s \\$5\\t\\\\"',
    'one\ntwo': "KEY='one\ntwo'",
    'one\r\ntwo': 'KEY="one\\r\ntwo"',
    '\x1b[31m': 'KEY="\\0033[31m"',
  }
  const written = Object.keys(lines).map((value) => toEnvLine({ key: 'KEY', value }))
  assert.deepEqual(written, Object.values(lines))
})

test('a file over the limit is refused', () => {
  const text = 'A'.repeat(limitChars + 1)
  assert.throws(() => parseEnvFile(text), { message: 'it is larger than 2 MiB' })
})
