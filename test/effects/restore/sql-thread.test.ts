// The lexer in its thread: the event loop is not blocked, and errors are the same as without a thread.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openSqlThread } from '../../../src/effects/restore/sql-thread.ts'

function openThread(t: TestContext, signal = new AbortController().signal) {
  const thread = openSqlThread(signal)
  t.after(() => thread.close())
  return thread
}

const insert = "insert into things values (1, 'one', now());\n"

test('the event loop is not blocked while a piece of SQL is parsed', async (t) => {
  const thread = openThread(t)
  const piece = Buffer.from(insert.repeat(100_000))
  let isDone = false
  let turns = 0
  await thread.push(Buffer.from('select 1;\n'))

  const pushing = thread.push(piece).finally(() => {
    isDone = true
  })
  for (; !isDone; turns++) await turn()

  assert.ok(turns > 100, `${turns} turns`)
  assert.deepEqual(Buffer.from(await pushing), piece)
  await thread.end()
})

test('a refusal in the thread keeps its code and the line number within the whole file', async (t) => {
  const thread = openThread(t)
  await thread.push(Buffer.from(insert))
  const message = /^line 2: \\connect connects to another database/
  await assert.rejects(thread.push(Buffer.from('\\connect other\n')), { code: 'unsupported_dump', message })
})

test('an omitted statement is not passed on, and a truncated one is refused at the end', async (t) => {
  const thread = openThread(t)
  const sql = await thread.push(Buffer.from('grant all on things to ada;\nselect 1'))
  assert.equal(Buffer.from(sql).toString(), '\nselect 1')
  await assert.rejects(thread.end(), { code: 'unsupported_dump', message: /the last statement does not end/ })
})

test('an abort ends the thread in the middle of a piece', async (t) => {
  const over = new AbortController()
  const thread = openThread(t, over.signal)
  const pushing = thread.push(Buffer.from(insert.repeat(100_000)))
  const reason = new Error('canceled')
  over.abort(reason)
  await assert.rejects(pushing, reason)
  await assert.rejects(thread.end(), reason)
})
