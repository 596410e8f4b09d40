// An SQL file before psql reads it: what is passed on, what is left out, what is refused and at which line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SqlLexer } from '../../../src/effects/restore/sql-lexer.ts'

/** The output for that text, which is the same in one chunk and byte by byte. */
function filtered(text: string): string {
  const [whole, ...others] = [1_000_000, 7, 1].map((size) => inChunks(text, size))
  for (const other of others) assert.equal(other, whole)
  return whole!
}

function inChunks(text: string, size: number): string {
  const lexer = new SqlLexer()
  const content = Buffer.from(text)
  const out: string[] = []
  for (let at = 0; at < content.length; at += size) {
    // The chunk is reused by the caller: held bytes must not change with it.
    const piece = Buffer.from(content.subarray(at, at + size))
    out.push(...lexer.push(piece).map((part) => part.toString('latin1')))
    piece.fill('!')
  }
  lexer.end()
  return Buffer.from(out.join(''), 'latin1').toString()
}

function complaint(text: string): string {
  const [whole, ...others] = [1_000_000, 7, 1].map((size) => {
    try {
      inChunks(text, size)
      return 'taken'
    } catch (error) {
      const { code, message } = error as Error & { code: string }
      return `${code}: ${message}`
    }
  })
  for (const other of others) assert.equal(other, whole, text)
  return whole!.replace('unsupported_dump: ', '')
}

test('text that is not a command passes unchanged', () => {
  const texts = [
    "select 'a\\b', E'it\\'s; \\! x', 'it''s', U&'\\0061', $$ \\! ; $$;\n",
    'select $a_1$ $$ \\! $a$ $b$a_1$ from t where a = $1;\n',
    'select "a;\\b" /* \\! /* ; */ \\! */ from t; -- \\! ;\nselect 1 - -1 / 2 * 3;',
    'create function f() returns int begin atomic select case when 1 = 1 then 2 end; select 3; END;\n',
    'create rule r as on insert to t do (select 1; select 2);\nselect name$1$x from t;',
    'copy t (a, b) from stdin;\n1\t\\\\! ; \'\n\\N\t"\n\\.x\n\\.\nselect 1;\n',
    'COPY public."x y" FROM STDIN WITH (FORMAT csv);\n\\.\r\n',
    "\r\n;;\nselect 'é';\r\ncomment on table t is 'begin; copy t from stdin; owner to x';",
    "alter table t alter c set default 'a owner to b';\nset client_encoding = 'UTF8';\n",
    "set standard_conforming_strings = on;SET standard_conforming_strings TO 'on';",
  ]
  for (const text of texts) assert.equal(filtered(text), text)
})

test('owners, grants and transaction statements are omitted, and line numbers stay', () => {
  const left = [
    'ALTER TABLE public."x y" OWNER TO "some one";',
    'ALTER FUNCTION public.f(a integer,\n b text) OWNER TO bob;',
    'GRANT ALL ON TABLE t TO bob;',
    "REVOKE ALL\n/* ; ' \n*/ ON TABLE t FROM PUBLIC;",
    'alter default privileges for role bob grant select on tables to eve;',
    "SET SESSION AUTHORIZATION 'bob';",
    'BEGIN;',
    'start transaction;',
    'COMMIT;',
    'END;',
    'SET transaction_timeout = 0;',
  ]
  for (const text of left) {
    const breaks = text.replaceAll(/[^\n]/g, '')
    assert.equal(
      filtered(`/* a */ select 1; -- x\n${text} select 2;`),
      `/* a */ select 1; -- x\n${breaks} select 2;`,
    )
  }
  const body = 'create procedure p() begin atomic select case when a then 1 end; end;'
  assert.equal(filtered(`${body} grant b to c;`), `${body} `)
  assert.equal(filtered('\\restrict aB1\n\nselect 1;\n\\unrestrict aB1\r\n'), '\n\nselect 1;\n\n')
})

test('psql commands are refused with their line, wherever psql would recognize one', () => {
  const refused = {
    '\\! id\n': 'line 1: the psql command \\! is not allowed',
    'select 1;\n\n  \\i /etc/passwd\n': 'line 3: the psql command \\i is not allowed',
    "\\copy t from program 'id'\n": 'line 1: the psql command \\copy is not allowed',
    '\\o |id': 'line 1: the psql command \\o is not allowed',
    '\\restrict a b\n': 'line 1: the psql command \\restrict is not allowed',
    '\\.\n': 'line 1: the psql command \\. is not allowed',
    '\\connect postgres\n':
      'line 1: \\connect connects to another database: use pg_dump of one database, without --create',
    'select 1 \\g |id\n': 'line 1: a backslash outside quotes is a psql command',
    'select 1; \\! id\n': 'line 1: a backslash outside quotes is a psql command',
    'select\n\\! id\n': 'line 2: a backslash outside quotes is a psql command',
    "select 'a\\'; \\! id\n": 'line 1: a backslash outside quotes is a psql command',
    "select e'a''\\'' \\! id\n": 'line 1: a backslash outside quotes is a psql command',
    '-- a\r\\! id\n': 'line 1: a backslash outside quotes is a psql command',
    'select $a$ $a$ \\! id': 'line 1: a backslash outside quotes is a psql command',
    "select e'a'\n'\\'; \\! id --'": "line 2: a string E'…' continues in a second one",
    "select 1e'\\'; \\! id --';": 'line 1: a number runs into a string',
    'select 1$$\\! id $$;': 'line 1: a number runs into a string',
    'copy (select 1 from stdin) to stdout;\n\\! id\n\\.\n': 'line 2: the psql command \\! is not allowed',
    'copy t from stdin; select 1;\n\\.\n': 'line 1: the COPY line continues after its semicolon',
    'select 1\0;': 'line 1: it contains a NUL byte, which SQL does not allow',
  }
  for (const [text, words] of Object.entries(refused)) assert.equal(complaint(text), words)
})

test('statements that reach beyond the database or its transaction are refused with their line', () => {
  const start = 'select 1;\n'
  const refused = {
    'create database x;': /^line 2: it creates or changes a database/,
    'DROP DATABASE IF EXISTS x;': /^line 2: it creates or changes a database/,
    'ALTER ROLE x\nWITH PASSWORD $$y$$;': /^line 2: it changes the roles/,
    'create user x;': /^line 2: it changes the roles/,
    'alter system set a = 1;': /^line 2: it changes the settings of the server/,
    'rollback;': /^line 2: it would end the one transaction/,
    'COMMIT AND CHAIN;': /^line 2: it would end the one transaction/,
    "prepare transaction 'x';": /^line 2: it would end the one transaction/,
    'set standard_conforming_strings = off;': /^line 2: standard_conforming_strings has to stay on/,
    "SET client_encoding = 'SJIS';": /^line 2: this client encoding is not supported/,
    'copy t from stdin binary;\n': /^line 2: binary COPY data/,
    '-- PostgreSQL database cluster dump\n': /^line 2: pg_dumpall wrote it/,
  }
  for (const [text, words] of Object.entries(refused)) assert.match(complaint(`${start}${text}`), words)
})

test('a file truncated at any place is refused', () => {
  const whole = [
    '--\n-- PostgreSQL database dump\n--\n\ncreate table t (a text);\n',
    "COPY t (a) FROM stdin;\none\n\\.\n\ninsert into t values ('two');\n\n",
    '--\n-- PostgreSQL database dump complete\n--\n',
  ].join('')
  assert.equal(filtered(whole), whole)
  const end = whole.lastIndexOf(' complete') + ' complete'.length
  for (let length = whole.indexOf('dump\n') + 5; length < end; length++)
    assert.match(complaint(whole.slice(0, length)), /^it is truncated: /, String(length))
  assert.equal(complaint('select 1;\nselect 2'), 'it is truncated: the last statement does not end (line 2)')
  assert.equal(complaint('select 1; -- it ends without a line break'), 'taken')
})
