// Options that are read again: which ones change, and which need a restart.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { compareConfig, rereadConfig } from '../../src/config/reload.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const env = { HOME: '/root', BERTH_KEEP_IMAGES: '7', BERTH_LISTEN: '127.0.0.1:7000' }

/** As `systemctl reload` writes them. */
function runDirWith(t: TestContext, options: string[]): string {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'options'), options.map((line) => `${line}\0`).join(''))
  return directory
}

test('what changed is told from what needs a restart; a removed line is the default again', async (t) => {
  const runDir = runDirWith(t, ['BERTH_LISTEN=127.0.0.1:7001', 'BERTH_LOG_LEVEL=debug'])

  const next = await rereadConfig([], env, runDir)

  assert.deepEqual(compareConfig(readConfig([], env), next), {
    changed: ['keep-images', 'log-level'],
    needRestart: ['listen'],
  })
  assert.equal(next['keep-images'], 5)
})

test('a flag wins over the file', async (t) => {
  const args = ['--keep-images', '9']
  const next = await rereadConfig(
    args,
    env,
    runDirWith(t, ['BERTH_KEEP_IMAGES=3', 'BERTH_LISTEN=127.0.0.1:7000']),
  )
  assert.deepEqual(compareConfig(readConfig(args, env), next), { changed: [], needRestart: [] })
})

test('an invalid value is refused, and names its option', async (t) => {
  const reading = rereadConfig([], env, runDirWith(t, ['BERTH_KEEP_IMAGES=none']))
  await assert.rejects(reading, { code: 'invalid_option', message: /^BERTH_KEEP_IMAGES: 'none'/ })
})
