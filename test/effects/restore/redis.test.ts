// A second server that a killed daemon left behind must not answer for the new one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { abortable } from '../../../src/async/abortable.ts'
import { redisRestorer } from '../../../src/effects/restore/redis.ts'
import type { RestoreStep } from '../../../src/effects/restore/step.ts'
import { standIn } from '../../support/effects/stand-in.ts'

test('a load asks only the server that it started', async (t) => {
  const servers = new Set(['left'])
  const answers: string[] = []
  const step = standIn<RestoreStep>({
    input: { id: 'rst-1', datastoreId: 'dst-1', backupId: null },
    signal: t.signal,
    datastore: {
      name: 'vault',
      credentials: { password: 'secret' },
      record: { kind: 'redis', version: '7' },
    },
    ports: {
      settings: { pidsLimit: 64, redisImage: 'redis' },
      tools: {
        remove: async () => servers.clear(),
        async run(_: unknown, __: unknown, signal: AbortSignal) {
          // The removal of a former one takes its time.
          await new Promise((resolve) => setTimeout(resolve, 50))
          servers.clear()
          servers.add('new')
          return abortable(new Promise<never>(() => undefined), signal)
        },
      },
      datastores: {
        async run(_: string, { argv }: { argv: string[] }) {
          await new Promise((resolve) => setImmediate(resolve))
          const [server] = servers
          const isSource = argv.includes('16379')
          if (isSource) answers.push(server ?? 'none')
          const stdout = argv.includes('ping') ? 'PONG' : 'used_memory:1\nmaxmemory:2'
          return { exitCode: isSource && server === undefined ? 1 : 0, stdout, stderr: '' }
        },
      },
    },
  })

  await redisRestorer.load(step)

  assert.ok(answers.includes('new'))
  assert.ok(!answers.includes('left'), answers.join(' '))
})
