// The disk usage is counted in the background: a query gets the last figures at once.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createDiskUsage } from '../../../src/effects/disk/disk-usage.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const mebibyte = 1024 * 1024

function openUsage(t: TestContext, df: () => Promise<object>) {
  const dataDir = temporaryDirectory(t)
  const write = (folder: string, sizeMb: number) => {
    mkdirSync(join(dataDir, folder), { recursive: true })
    writeFileSync(join(dataDir, folder, 'file'), Buffer.alloc(sizeMb * mebibyte, 1))
  }
  const call = (_: string, ask: (signal: AbortSignal) => Promise<unknown>) =>
    ask(new AbortController().signal)
  const settings = { dataDir, backupDir: join(dataDir, 'elsewhere/backups') }
  const ports = standIn<Parameters<typeof createDiskUsage>[0]>({
    engine: { call, docker: { df } },
    settings,
    logger: silentLogger,
  })
  return { usage: createDiskUsage(ports), write }
}

const found = {
  LayersSize: 100,
  Containers: [{ SizeRw: 1 }, {}, { SizeRw: 2 }],
  Volumes: [{ UsageData: { Size: 10 } }, { UsageData: { Size: -1 } }, { UsageData: null }],
  BuildCache: [
    { Size: 7, Shared: false },
    { Size: 50, Shared: true },
  ],
}

test('the first request gets null immediately, later ones the sizes by category', async (t) => {
  let requested = 0
  const { usage, write } = openUsage(t, async () => {
    requested++
    return found
  })
  const sizes = { store: 1, logs: 2, 'runtime-logs/svc-1': 3, 'elsewhere/backups/shop': 4, archives: 5 }
  for (const [folder, sizeMb] of Object.entries({ ...sizes, restores: 6, 'work/dep-1/source': 7 }))
    write(folder, sizeMb)

  equal(usage(), null)
  await eventually('the figures', () => usage() !== null)

  const { data, docker } = usage()!
  const inMb = Object.entries(data).map(([name, bytes]) => [name, Math.floor(bytes / mebibyte)])
  deepEqual(Object.fromEntries(inMb), {
    storeBytes: 1,
    logsBytes: 5,
    backupsBytes: 4,
    uploadsBytes: 11,
    checkoutsBytes: 7,
  })
  deepEqual(docker, { imagesBytes: 100, containersBytes: 3, volumesBytes: 10, buildCacheBytes: 7 })
  equal(requested, 1, 'what is known is not counted again')
})

test('a slow engine is queried once, and an unresponsive one omits only its own sizes', async (t) => {
  let refuse = (_: Error) => {}
  let requested = 0
  const { usage } = openUsage(t, () => {
    requested++
    return new Promise((_, reject) => {
      refuse = reject
    })
  })
  for (let count = 0; count < 5; count++) equal(usage(), null)
  equal(requested, 1)

  refuse(new Error('gone'))

  await eventually('the figures', () => usage() !== null)
  equal(usage()!.docker, null)
  ok(usage()!.data.storeBytes >= 0)
})
