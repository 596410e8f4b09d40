import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataPathOf } from '../../src/domain/stateful-images.ts'

test('the data path of well-known images is known by their name', () => {
  const cases: [string, string | null][] = [
    ['postgres:15-alpine', '/var/lib/postgresql/data'],
    ['docker.io/library/postgres:18', '/var/lib/postgresql'],
    ['postgres', '/var/lib/postgresql'],
    [`registry.example.com:5000/mirror/redis@sha256:${'a'.repeat(64)}`, '/data'],
    ['louislam/uptime-kuma:1', '/app/data'],
    ['gitea/gitea:1.22', '/data'],
    ['ghcr.io/ada/web:v1', null],
    ['constructor', null],
    ['redis-commander', null],
  ]
  for (const [image, path] of cases) assert.equal(dataPathOf(image), path, image)
})
