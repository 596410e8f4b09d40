// Mounts of Compose files: which becomes the disk, and what is said of every other one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importCompose } from '../../src/blueprint/compose/compose.ts'

const folders: Record<string, boolean> = { './notes.d': true, './settings': false, 'sub/notes': true }

function read(text: string, base = '') {
  return importCompose(text, {
    env: new Map([['DATA', '/srv/my data']]),
    base,
    folderName: 'Shop',
    readEnvFile: () => null,
    isFolder: (path) => folders[path] ?? null,
  })
}

/** The disk of the service `web`, and its lines without the names. */
function mounted(volumes: string, keys = 'image: app', { base = '', rest = '' } = {}) {
  const { blueprint, remaining } = read(`services:\n  web: { ${keys}, volumes: [${volumes}] }\n${rest}`, base)
  const lines = remaining.filter(({ what }) => what.startsWith('services.web.volumes'))
  return { disk: blueprint.services?.web?.disk_mount_path, lines: lines.map(({ reason }) => reason) }
}

const disks: [volumes: string, disk: string, command: string][] = [
  ['./gitea:/data', '/data', 'berth cp ./gitea/. web:/data'],
  ['./gitea/:/data/:rw', '/data', 'berth cp ./gitea/. web:/data'],
  ['/srv/gitea:/data:z', '/data', 'berth cp /srv/gitea/. web:/data'],
  ['~/gitea:/data', '/data', 'berth cp ~/gitea/. web:/data'],
  ['"${DATA}:/data"', '/data', "berth cp '/srv/my data/.' web:/data"],
  ['"${DATA:-./x}:/data"', '/data', "berth cp '/srv/my data/.' web:/data"],
  ['"${PLACE}:/data"', '/data', 'berth cp ${PLACE}/. web:/data'],
  ['"${PLACE:-./x}/sub:/data"', '/data', 'berth cp ./x/sub/. web:/data'],
  ['{ type: bind, source: ./g, target: /data }', '/data', 'berth cp ./g/. web:/data'],
  ['./notes.d:/notes.d', '/notes.d', 'berth cp ./notes.d/. web:/notes.d'],
  ['.data:/data', '/data', 'berth cp .data/. web:/data'],
  [
    'data:/data',
    '/data',
    'docker run --rm -v shop_data:/from busybox tar -cC /from . | berth cp - web:/data',
  ],
  ['own:/data', '/data', 'docker run --rm -v mine:/from busybox tar -cC /from . | berth cp - web:/data'],
  ['out:/data', '/data', 'docker run --rm -v out:/from busybox tar -cC /from . | berth cp - web:/data'],
  ['folder:/data', '/data', 'berth cp /mnt/folder/. web:/data'],
]
const definitions = `volumes:
  data:
  own: { name: mine }
  out: { external: true }
  folder: { driver_opts: { type: none, o: bind, device: /mnt/folder } }
`

for (const [volumes, disk, command] of disks) {
  test(`${volumes} becomes the disk, with the command that copies its files`, () => {
    assert.deepEqual(mounted(volumes, 'image: app', { rest: definitions }), {
      disk,
      lines: [`the disk begins empty: ${command} copies its files there`],
    })
  })
}

test('files are named from where berth import runs, not from the Compose file', () => {
  assert.match(
    mounted('./a:/data', 'image: app', { base: '../x y' }).lines[0]!,
    /berth cp '\.\.\/x y\/a\/\.' web/,
  )
})

const noDisks: [volumes: string, keys: string, reason: RegExp][] = [
  ['./a:/a:ro', 'image: app', /^an instance sees no files of the host: COPY .\/a .*FROM app/],
  ['{ type: bind, source: ./a, target: /a, read_only: true }', 'image: app', /COPY .\/a into the image/],
  ['./app.yml:/etc/app.yml', 'image: app', /^a single file is not mounted: COPY .\/app.yml .* folder \/etc$/],
  ['./settings:/settings', 'image: app', /^a single file is not mounted/],
  ['/var/run/docker.sock:/var/run/docker.sock', 'image: app', /no access to its programs/],
  ['/run/user/1000/podman.sock:/sock', 'image: app', /no access to its programs/],
  ['/etc/localtime:/etc/localtime', 'image: app', /set TZ$/],
  ['/etc/timezone:/etc/timezone:ro', 'image: app', /set TZ$/],
  ['/proc:/host/proc', 'image: app', /sees no files of the host/],
  ['/:/rootfs', 'image: app', /sees no files of the host/],
  ['/dev/dri:/dev/dri', 'image: app', /sees no files of the host/],
  ['.:/app', 'build: .', /^it is source code/],
  ['./:/app', 'image: node', /^it is source code/],
  ['..:/app', 'build: ./api', /^it is source code/],
  ['./api:/app', 'build: ./api', /^it is source code/],
  ['./api/src:/app/src', 'build: { context: ./api/ }', /^it is source code/],
  ['/app/node_modules', 'build: .', /^it has no name, .* disk_mount_path: \/app\/node_modules$/],
  ['{ type: tmpfs, target: /tmp }', 'image: app', /^a mount of type tmpfs is no disk/],
  ['./sql:/docker-entrypoint-initdb.d', 'image: mongo', /^it is not run: COPY .\/sql into the image/],
  ['./a.sql:/docker-entrypoint-initdb.d/a.sql', 'image: mysql', /berth ssh web -- 'mysql .*' < .\/a.sql$/],
]

for (const [volumes, keys, reason] of noDisks) {
  test(`${volumes} of ${keys} becomes no disk, and is named`, () => {
    const { disk, lines } = mounted(volumes, keys)
    assert.deepEqual([disk, lines.length], [undefined, 1])
    assert.match(lines[0]!, reason)
  })
}

const several: [volumes: string, keys: string, disk: string][] = [
  ['./log:/var/log/app, ./d:/data', 'image: app', '/data'],
  ['./log:/app/logs, ./up:/app/uploads', 'image: app', '/app/uploads'],
  ['./a:/data/a, ./b:/data/b', 'image: app', '/data'],
  ['./m:/data/media, d:/data', 'image: app', '/data'],
  ['./a:/app/storage/a, ./b:/app/storage/b/c', 'image: app', '/app/storage'],
  ['./a:/app/one, ./b:/app/two', 'image: app', '/app/one'],
  ['./a:/var/lib/one, ./b:/var/log/two', 'image: app', '/var/lib/one'],
  ['./x:/files, ./c:/var/lib/ghost/content', 'image: "ghost:5"', '/var/lib/ghost/content'],
]

for (const [volumes, keys, disk] of several) {
  test(`of ${volumes} the disk is ${disk}, and each mount has a line with a command`, () => {
    const found = mounted(volumes, keys)
    assert.deepEqual([found.disk, found.lines.length], [disk, 2])
    for (const line of found.lines) assert.match(line, /berth cp .* web:\//)
  })
}

test('a folder of settings is copied into the image if the disk is for data', () => {
  const { disk, lines } = mounted('./conf:/etc/app, ./d:/data')
  assert.deepEqual(
    [disk, lines[0]],
    ['/data', 'COPY ./conf into the image: a service has one disk, here at /data'],
  )
})

test('a data folder within a build is a disk, and code is not', () => {
  assert.equal(mounted('.:/app, ./data:/app/data', 'build: .').disk, '/app/data')
})

test('a database that runs is not written to: its files are copied while it is suspended', () => {
  const [line] = mounted('./db:/var/lib/mysql', 'image: "mysql:8"').lines
  assert.match(line!, /berth suspend web, then berth cp .\/db\/. disk:web:\/, then berth resume web/)
})

for (const volume of ['media:/media', './media:/media', '/srv/media:/media']) {
  test(`${volume} of two services is the disk of the first, and named at the second`, () => {
    const { remaining } = read(`services:
  web: { image: a, volumes: ["${volume}"] }
  worker: { image: a, volumes: ["${volume}"] }
  proxy: { image: b, volumes: ["${volume}:ro"] }
`)
    const reasons = remaining.map(({ what, reason }) => `${what}: ${reason}`)
    const shared = 'they share no files, so one service must do the work of both'
    assert.equal(reasons[1], `services.worker.volumes.0: its disk is not that of web: ${shared}`)
    assert.match(reasons[2]!, /^services\.proxy\.volumes\.0: .*COPY/)
  })
}

test('a volume that a service prepares for another is the disk of the other', () => {
  const { blueprint, remaining } = read(`services:
  owner: { image: busybox, command: chown -R 1000 /media, volumes: ["media:/media"] }
  web:
    image: a
    volumes: ["media:/media"]
    depends_on: { owner: { condition: service_completed_successfully } }
`)
  assert.deepEqual(Object.keys(blueprint.services!), ['web'])
  assert.equal(blueprint.services!.web!.disk_mount_path, '/media')
  const line = remaining.find(({ what }) => what === 'services.web.volumes.0')
  assert.match(line!.reason, /^the disk begins empty/)
})

const databases: [image: string, volume: string, line: RegExp][] = [
  [
    'postgres:17',
    'pg:/var/lib/postgresql/data',
    /^its files stay in shop_pg.*pg_dump -Fc -U ada shop \| berth db restore db$/,
  ],
  [
    'postgres:18',
    './pg:/var/lib/postgresql',
    /^its files stay in .\/pg, .*pg_dump -Fc -U ada shop \| berth db restore db$/,
  ],
  [
    'postgres:17',
    './a.sql:/docker-entrypoint-initdb.d/a.sql',
    /^it is not run: berth db psql db < .\/a.sql$/,
  ],
  [
    'postgres:17',
    './a.sql:/docker-entrypoint-initdb.d/1-a.sql:ro',
    /^it is not run: berth db psql db < .\/a.sql$/,
  ],
  [
    'postgres:17',
    './a.sql.gz:/docker-entrypoint-initdb.d/a.sql.gz',
    /gunzip -c .\/a.sql.gz \| berth db psql db$/,
  ],
  [
    'postgres:17',
    './a.sh:/docker-entrypoint-initdb.d/a.sh',
    /^it is not run: give its SQL to berth db psql db$/,
  ],
  ['postgres:17', './sql:/docker-entrypoint-initdb.d', /not run: cat .\/sql\/\*.sql \| berth db psql db$/],
  ['postgres:17', './pg.conf:/etc/postgresql.conf', /settings of its own: berth db psql db -c "alter system/],
  ['postgres:17', './backups:/backups', /^a datastore sees no files of the host: berth db backup db > FILE/],
  ['redis:8', 'cache:/data', /docker compose cp db:\/data\/dump.rdb . && berth db restore db < dump.rdb$/],
  ['redis:8', './redis.conf:/usr/local/etc/redis/redis.conf', /^the datastore has settings of its own$/],
]

for (const [image, volume, line] of databases) {
  test(`${volume} of ${image} is named with what to do`, () => {
    const { remaining } = read(`services:
  db: { image: "${image}", volumes: ["${volume}"], environment: { POSTGRES_USER: ada, POSTGRES_DB: shop } }
`)
    const [found] = remaining.filter(({ what }) => what === 'services.db.volumes.0')
    assert.match(found!.reason, line)
  })
}
