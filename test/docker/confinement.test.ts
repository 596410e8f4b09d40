import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DockerSite, openDockerSite, until } from '../support/docker/docker-site.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { addSystem, ensureTestImage, type TestRecipe } from '../support/docker/images.ts'

const base = {
  repository: 'localhost/berth-test' as const,
  version: 1,
  extra: '',
  settings: {
    Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    Labels: { 'berth.test': 'base' },
    Cmd: ['sh'],
  },
}

const perl: TestRecipe = {
  ...base,
  name: 'perl',
  wish: {
    packages: ['perl-base', 'busybox-static', 'util-linux'],
    without: ['dpkg', 'tar', 'debconf', 'util-linux-extra'],
  },
  finish: addSystem,
  substitute: 'perl:5.40-slim',
}

/** CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID and NET_BIND_SERVICE by their bits. */
const allowed = [0, 1, 3, 5, 6, 7, 10]

test('raw sockets are refused: no container can forge addresses', async (t) => {
  const site = await openDockerSite(t)
  const image = await ensureTestImage(await ensureEngine(), perl)
  // Domain, type and protocol by their numbers on Linux; EPERM is 1.
  const sockets = { raw: '2, 3, 1', arp: '17, 3, 0x0608', cooked: '17, 2, 0', stream: '2, 1, 0' }
  const tries = Object.entries(sockets).map(
    ([name, of]) => `print "${name}=", (socket(S, ${of}) ? 0 : $!+0), "\\n";`,
  )
  const command = `perl -e '${tries.join(' ')}'; grep CapBnd /proc/self/status; sleep 600`

  const lines = await readLines(site, { image, command }, 5)

  assert.deepEqual(lines.slice(0, 4), ['raw=1', 'arp=1', 'cooked=1', 'stream=0'])
  const bits = BigInt(`0x${lines[4]!.split(/\s+/)[1]}`)
  const has = Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n)
  assert.deepEqual(has, allowed)
})

test('an entrypoint can start as root, chown a folder, drop to a user and bind port 80', async (t) => {
  const site = await openDockerSite(t)
  const image = await ensureTestImage(await ensureEngine(), perl)
  const dropped = 'id -u; id -g; touch /own/file && echo wrote; chown 0 /own 2>/dev/null || echo no'
  const command = [
    'mkdir -m 0700 /own && chown 65534:65534 /own && chmod 0750 /own && touch /own/as-root',
    `/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups -- sh -c '${dropped}'`,
    `su -s /bin/sh nobody -c 'id -un'`,
    'httpd -p 80 -h /own && echo bound; sleep 600',
  ].join('\n')

  const lines = await readLines(site, { image, command }, 6)

  assert.deepEqual(lines, ['65534', '65534', 'wrote', 'no', 'nobody', 'bound'])
})

async function readLines(
  { instances, spec }: DockerSite,
  changes: { image: string; command: string },
  count: number,
): Promise<string[]> {
  const wanted = await spec({ ...changes, memoryLimitMb: 128 })
  await instances.ensure(wanted)
  return until(`${count} lines`, async () => {
    const lines = (await instances.tail(wanted.name, 50)).map(({ line }) => line)
    return lines.length >= count && lines
  })
}
