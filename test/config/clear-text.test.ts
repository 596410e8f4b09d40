// Which listeners cause a warning: unencrypted ones that other machines can reach.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clearTextListeners, readConfig } from '../../src/config/config.ts'

const warned: [args: string[], listeners: string[]][] = [
  [[], []],
  [['--listen=localhost:1'], []],
  [['--listen=[::1]:1', '--datastore-bind=127.0.0.9'], []],
  [['--listen=0.0.0.0:80'], ['--listen 0.0.0.0:80']],
  [['--listen=[::]:80'], ['--listen [::]:80']],
  [['--listen=10.0.0.1:80'], ['--listen 10.0.0.1:80']],
  [['--listen=[::ffff:10.0.0.1]:80'], ['--listen [::ffff:10.0.0.1]:80']],
  [['--listen=berth.example.com:80'], ['--listen berth.example.com:80']],
  [['--datastore-bind=0.0.0.0'], ['--datastore-bind 0.0.0.0']],
  [['--base-domain=apps.example.com', '--http-port=8080'], ['--http-port 8080']],
  [['--base-domain=apps.example.com', '--acme-email=ada@example.com'], []],
  [['--base-domain=apps.example.com', '--edge=off'], []],
]

for (const [args, listeners] of warned) {
  const name = `with ${args.join(' ') || 'the defaults'} ${listeners.join() || 'nothing'} is warned of`
  test(name, () => {
    const found = clearTextListeners(readConfig(args, {}))
    assert.deepEqual(
      found.map(({ listener }) => listener),
      listeners,
    )
    for (const { warning } of found) assert.match(warning, /not encrypted there/)
  })
}
