// A file of plain SQL: its format, and the lines that are left out of it.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readSql, SqlFilter } from '../../../src/effects/restore/plain-sql.ts'
import type { RestorePorts, RestoreStep } from '../../../src/effects/restore/step.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function read(t: TestContext, content: Uint8Array | string): Promise<string> {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, content)
  const storage = { restoreFiles: { path: () => path }, actors: { record: () => ({ size_bytes: 1 }) } }
  const ports = standIn<RestorePorts>({ storage, settings: {}, progress: new Map() })
  const input = { id: 'rst-1', datastoreId: 'dst-1', backupId: null }
  const step = standIn<RestoreStep>({ ports, input, signal: new AbortController().signal })
  const pieces: Uint8Array[] = []
  for await (const piece of readSql(step)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('SQL is read plain or gzipped, without a byte order mark', async (t) => {
  for (const content of ['select 1;', '\ufeffselect 1;', gzipSync('select 1;'), gzipSync('\ufeffselect 1;')])
    assert.equal(await read(t, content), 'select 1;')
})

test('a file that is truncated, or contains something else, is refused', async (t) => {
  const packed = gzipSync('select 1;\n'.repeat(1000))
  const refused: [Uint8Array | string, RegExp][] = [
    [packed.subarray(0, -9), /^it is truncated or changed: /],
    [gzipSync('PGDMP and more'), /^a gzip file has to hold plain SQL/],
    [gzipSync('-- MySQL dump 10.13'), /^the file is from MySQL or MariaDB/],
    [`${'select 1;\n'.repeat(100)}\0`, /^it contains a NUL byte/],
  ]
  for (const [content, message] of refused)
    await assert.rejects(read(t, content), { code: 'unsupported_dump', message })
})

const mebibyte = 1024 * 1024

/** The input of psql for that text, which is the same in one chunk and byte by byte. */
function filtered(text: string): string {
  const [whole, ...others] = [1_000_000, 7, 1].map((size) => inChunks(text, size))
  for (const other of others) assert.equal(other, whole)
  return whole!
}

function inChunks(text: string, size: number): string {
  const filter = new SqlFilter()
  const content = Buffer.from(text)
  const passed: Buffer[] = []
  for (let at = 0; at < content.length; at += size) {
    // The chunk is reused by the caller: what is kept must not change with it.
    const piece = Buffer.from(content.subarray(at, at + size))
    passed.push(filter.push(piece))
    piece.fill('!')
  }
  return Buffer.concat([...passed, filter.end()]).toString()
}

const omitted = [
  'ALTER TABLE public."x y" OWNER TO "some one";',
  'ALTER FUNCTION public.f(a integer, b text) OWNER TO bob;',
  'GRANT ALL ON TABLE t TO "a;b";',
  'REVOKE ALL ON TABLE t FROM PUBLIC; -- all',
  'ALTER DEFAULT PRIVILEGES FOR ROLE bob GRANT SELECT ON TABLES TO eve;',
  "SET SESSION AUTHORIZATION 'bob';",
  'reset session authorization;',
  'SET transaction_timeout = 0;',
  "COMMENT ON EXTENSION plpgsql IS 'PL/pgSQL; procedural language';",
  '\\restrict aB1',
  '\\unrestrict aB1',
]

test('owners, grants and what older servers do not know are left out, and line numbers stay', () => {
  for (const line of omitted) {
    assert.equal(
      filtered(`select 1; -- x\n${line}\r\n/* y */\n${line}\nselect 2;`),
      'select 1; -- x\n\n/* y */\n\nselect 2;',
    )
  }
})

test('the same lines pass as data, in quotes, in comments and inside a statement', () => {
  const surroundings = [
    ['COPY public.t (a) FROM stdin;\n', '\n\\.\nselect 1;\n'],
    ['copy "stdin"\n(a) from STDIN with (format csv);\n\\.x\n', '\n\\.\r\n'],
    ["insert into t values ('a\n", "\n');\n"],
    ["insert into t values ('it''s\n", "\n');\n"],
    ["insert into t values (E'\\'\n", "\n');\n"],
    ['create function f() returns void language sql as $a_1$ $$;\n', '\n$a_1$;\n'],
    ['select "a\n', '\n";\n'],
    ['/* a;\n', '\n*/\n'],
    ['create schema s -- ;\n', '\n;\n'],
  ] as const
  for (const [before, after] of surroundings) {
    for (const line of omitted.filter((text) => !/["$']/.test(text)))
      assert.equal(filtered(`${before}${line}${after}`), `${before}${line}${after}`)
  }
})

test('other text passes unchanged', () => {
  const texts = [
    'GRANT a TO b; SELECT 2;\nALTER TABLE t OWNER TO a, ADD b int;\nGRANT a\nTO b;\n',
    "insert into t values ('copy t from stdin;');\nALTER TABLE t ALTER c SET DEFAULT 'a owner to b';\n",
    'select name$1$x, a.e from t where b = $1;\n\\connect other\n  \\! id\n',
    'select 1;\r\nbegin;\ncommit;\n\nselect é;',
  ]
  for (const text of texts) assert.equal(filtered(text), text)
})

test('a dump of pg_dump that is truncated after its first line is refused', () => {
  const whole = [
    '--\n-- PostgreSQL database dump\n--\n\ncreate table t (a text);\n',
    "COPY t (a) FROM stdin;\none\n\\.\n\ninsert into t values ('two');\n\n",
    '--\n-- PostgreSQL database dump complete\n--\n',
  ].join('')
  assert.equal(filtered(whole), whole)
  const end = whole.lastIndexOf(' complete') + ' complete'.length
  for (let length = whole.indexOf('dump\n') + 5; length < end; length++) {
    assert.throws(
      () => inChunks(whole.slice(0, length), 1000),
      { code: 'unsupported_dump', message: /^it is truncated: / },
      String(length),
    )
  }
  assert.throws(() => filtered('copy t from stdin;\n1\n'), { message: /the data of COPY does not end$/ })
})

test('a line of any length passes in bounded memory', () => {
  const filter = new SqlFilter()
  const piece = Buffer.alloc(64 * 1024, 'a')
  let passedBytes = filter.push(Buffer.from("select '")).length
  let largest = 0

  for (let count = 0; count < 1024; count++) {
    const passed = filter.push(piece)
    largest = Math.max(largest, passed.length)
    passedBytes += passed.length
  }
  passedBytes += filter.push(Buffer.from("';\nGRANT a TO b;\n")).length

  assert.equal(passedBytes, 64 * mebibyte + "select '';\n\n".length)
  assert.ok(largest < mebibyte, `${largest} bytes at once`)
  const text = `insert into t values ('${"a, ''".repeat(mebibyte / 4)}\nGRANT a TO b;\n');\n`
  assert.ok(inChunks(text, 64 * 1024) === text)
})
