// What the CLI says of a version that works but keeps data where it has no disk.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningLines } from '../../../src/cli/deploy/labels.ts'

test('the command that adds a disk can be copied into a shell', () => {
  const commandFor = (path: string) =>
    warningLines((_, text) => text, 'web', { warnings: [{ code: 'volume_without_disk', path }] }).at(-1)

  assert.match(commandFor('/data')!, /^ +berth update web --disk \/data +#/)
  assert.match(commandFor('/a b$(id)')!, /^ +berth update web --disk '\/a b\$\(id\)' +#/)
})
