// The daemon's log on a full disk: the daemon keeps running, and logs again when there is space.
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogger } from '../../src/logger.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { fillDisk, smallDisk } from '../support/system/small-disk.ts'

const options = process.getuid?.() === 0 ? {} : { skip: 'needs root, to mount a small disk' }
const scope = fileScope()

test('a full disk under the log ends no process, and the newest lines are written later', options, () => {
  const disk = smallDisk(scope, 4)
  const path = join(disk, 'log')
  const file = openSync(path, 'a')
  const logger = createLogger({ level: 'info', fd: file })
  logger.info('before')
  const empty = fillDisk(disk)

  const words = 'x'.repeat(1000)
  for (let count = 0; count < 5000; count++) logger.info({ count, words }, 'meanwhile')
  empty()
  logger.info('after')

  const messages = readFileSync(path, 'utf8').trim().split('\n')
  closeSync(file)
  const lines = messages.map((line) => JSON.parse(line))
  assert.deepEqual([lines[0].msg, lines.at(-1).msg], ['before', 'after'])
  const kept = lines.filter(({ msg }) => msg === 'meanwhile')
  assert.ok(kept.length > 0 && kept.length < 2000, `${kept.length} lines were kept in memory`)
})
