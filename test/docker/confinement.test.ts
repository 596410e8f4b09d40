import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatastores } from '../../src/docker/containers/datastores.ts'
import { ensureVolume } from '../../src/docker/containers/volumes.ts'
import { datastoreImages } from '../support/docker/datastore-images.ts'
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

/** As Debian installs it: the master is root, its workers are www-data. */
const nginx: TestRecipe = {
  ...base,
  name: 'nginx',
  wish: {
    packages: ['nginx', 'nginx-common', 'busybox-static'],
    only: [
      'nginx',
      'nginx-common',
      'busybox-static',
      'libc6',
      'libcrypt1',
      'libpcre2-8-0',
      'libssl3',
      'libssl3t64',
      'zlib1g',
    ],
  },
  async finish(root) {
    await addSystem(root)
    const users = `${root.read('etc/passwd')}www-data:x:33:33:www-data:/var/www:/bin/false\n`
    root.file('etc/passwd', users)
    root.file('etc/group', `${root.read('etc/group')}www-data:x:33:\n`)
    for (const path of ['var/log/nginx', 'var/lib/nginx', 'run', 'etc/nginx/modules-enabled']) {
      if (!root.has(path)) root.directory(path)
    }
    root.file('var/www/index.html', 'of nginx')
    const server = 'server { listen 80; root /var/www; }'
    root.file('etc/nginx/test.conf', `user www-data; events {} http { access_log off; ${server} }`)
  },
  substitute: 'nginx:1.28',
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

test("Debian's nginx starts as root and serves by workers of www-data", async (t) => {
  const site = await openDockerSite(t)
  const image = await ensureTestImage(await ensureEngine(), nginx)
  const command = [
    `nginx -c /etc/nginx/test.conf -g 'daemon off;' &`,
    'until wget -q -O - http://127.0.0.1/ 2>/dev/null; do sleep 0.1; done; echo',
    `for pid in $(pidof nginx); do awk '/^Uid/ {print $2}' /proc/$pid/status; done | sort -u`,
    'sleep 600',
  ].join('\n')

  const lines = await readLines(site, { image, command }, 3)

  assert.deepEqual(lines, ['of nginx', '0', '33'])
})

test('Postgres and Redis start as root, chown their volume and serve as their own user', async (t) => {
  const site = await openDockerSite(t)
  const images = await datastoreImages()
  const datastores = openDatastores(site.engine, site.owner)
  const kinds = {
    postgres: { version: '15', mountPath: '/var/lib/postgresql/data', inside: 5432, uid: '70' },
    redis: { version: '7', mountPath: '/data', inside: 6379, uid: '999' },
  } as const
  for (const [kind, { version, mountPath, inside, uid }] of Object.entries(kinds)) {
    const { network, address } = await site.spec()
    const spec = {
      id: `dst-${kind}`,
      name: kind,
      network,
      address,
      mountPath,
      script: null,
      volume: `${site.owner.prefix}-datastore-${kind}`,
      image: images[kind as keyof typeof kinds].replace('{version}', version),
      env: { POSTGRES_PASSWORD: 'secret' },
      port: { inside, host: 0, bind: '127.0.0.1' },
      restart: 'no' as const,
      memoryLimitMb: 256,
      cpuLimit: 1,
      pidsLimit: 128,
    }

    await ensureVolume(site.engine, site.owner, spec.volume)
    const { name } = await datastores.ensure(spec)
    const response = await until(`${kind} to answer`, async () => {
      const ping =
        kind === 'redis'
          ? ['redis-cli', 'ping']
          : ['psql', '-U', 'postgres', '-h', '127.0.0.1', '-Atc', 'SELECT 1']
      const env = { PGPASSWORD: 'secret' }
      const { exitCode, stdout } = await datastores.run(name, { argv: ping, env })
      return exitCode === 0 && stdout.trim()
    })
    const look = ['sh', '-c', `awk '/^Uid/ {print $2}' /proc/1/status`]
    const { stdout } = await datastores.run(name, { argv: look, env: {} })

    assert.equal(response, kind === 'redis' ? 'PONG' : '1')
    assert.equal(stdout.trim(), uid)
  }
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
