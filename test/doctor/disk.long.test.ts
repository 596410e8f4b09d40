// A data directory on a small disk that fills up.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { openEngine } from '../../src/docker/engine/client.ts'
import { checkDisk } from '../../src/doctor/disk.ts'
import { fillDisk, smallBlockDisk, smallDisk } from '../support/system/small-disk.ts'

async function codesAt(directory: string, reserveMb: number): Promise<string[]> {
  const config = readConfig([`--data-dir=${directory}`, `--min-free-disk=${reserveMb}`], {})
  const engine = openEngine('unix:///nowhere/docker.sock')
  const examined = { config, engine, stored: null, storeError: null, pid: null, live: null }
  const found = await checkDisk(examined, new AbortController().signal)
  return typeof found === 'string' ? [] : found.map(({ code }) => code)
}

test('a disk is low before it is full, by the option that stops deploys', async (t) => {
  const disk = smallDisk(t, 64)
  assert.deepEqual(await codesAt(disk, 16), [])
  const empty = fillDisk(disk, 20)
  assert.deepEqual(await codesAt(disk, 16), ['disk_low'])
  empty()
  fillDisk(disk)
  assert.deepEqual(await codesAt(disk, 16), ['disk_full'])
})

test('a disk without inodes takes no file, although it has free space', async (t) => {
  const disk = smallBlockDisk(t, 8)
  const folder = join(disk, 'many')
  mkdirSync(folder)
  for (let count = 0; ; count++) {
    try {
      writeFileSync(join(folder, String(count)), '')
    } catch {
      break
    }
  }
  assert.deepEqual(await codesAt(disk, 1), ['inodes_exhausted'])
})
