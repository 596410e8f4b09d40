// Pastes what errors propose: each command must be understood, and lead on.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBerth } from '../support/cli/berth.ts'
import { startDatastores } from '../support/http/datastore-api.ts'
import { token } from '../support/http/http-context.ts'
import { commandWords } from '../support/http/reference.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

/** Of all kinds: wrong words, names that do not exist or are taken, values, states, files, servers. */
const failing = `
deply
ls
ps
rm web
exec web -- ls
shell web
rename web other
backup
-v
stop web
start web
config web
secrets web
push
constructor
help nothing
deploy --foo
run web -it -- sh
run web --foo
scale web
scale web 3 4
scale web 0
scale web many
env web FOO=1
env set web
env set web A
env set web A=- B=-
env import web nothing.env
env import web twice.env --yes
env import web empty.env --yes
env unset web NOTHING
env edit web
db creat x
db create x -k mysql
db create pg
db create web
db restore pg dump.sql
db restore pg
db upgrade pg 17
db backup pg out.dump
db restore nothing --from bak-01jexample
db show web
db show nothing
disks restore web files.tar
disks backup nothing
show nothing
show pg
show we
create web --image nginx
create Web --image nginx
create other --image nginx --repo https://example.com/a.git
create other --type cron_job --image nginx
create other --type web --image nginx
create
up web .
up other nothing
up
update web
update web --memory 512x
update web --port 99999
update web --type background_worker
update web --schedule '0 3 * * *'
update web --repo https://example.com/a.git
update shop --tags a,b
update shop --watch-path api,lib
delete
delete web
delete nothing --yes
delete web --yes --purge
deploy nothing
deploy uploads
deploy shop --commit nothing..
restart web
resume nothing
rollback web
rollback web v1
rollback web dep-01jzx3v8m2q4t6w8y0a2c4e6g8
cancel web
logs nothing
logs --deploy web
logs --job web
why nothing
why web
why dep-01jzx3v8m2q4t6w8y0a2c4e6g8
diff web
jobs nothing
run nothing -- true
run web
ssh nothing
ssh web --json
status nothing
open uploads
domains add web example.test/api
domains add web nonsense
domains rm web example.test
deploy-key web
deploy-key nothing
watched web a.md
schedule web
alerts show alr-01jexample
alerts set host_disk
certs show nothing
registries rm ghcr.io
git show nothing
notify rm nothing
trash restore nothing
servers rm nothing
services --server nothing
services --server http://127.0.0.1:1
services --token-file nothing
services --token wrong
cp nothing web:/data
cp web:/data
api GET /nothing
retry svc-1
history nothing
server-backups show nothing
completion csh
`
  .trim()
  .split('\n')

/** What a user would fill in. */
const filled: Record<string, string> = {
  NAME: 'web',
  '[NAME]': 'web',
  NEW: 'other2',
  COMMAND: 'true',
  FILE: 'dump.sql',
  DIR: '.',
  FOLDER: '.',
  '[DIR]': '.',
  HOST: 'ghcr.io',
  IMAGE: 'nginx',
  NUMBER: '2',
  N: '2',
  PATH: '/data',
  'KEY=VALUE…': 'A=1',
  'KEY=value': 'A=1',
  VALUE: '1',
  SECONDS: '60',
  DEPLOY: 'dep-01jzx3v8m2q4t6w8y0a2c4e6g8',
  ACCOUNT: 'gcn-01jexample',
  DOMAIN: 'example.test',
}

/** Of a sentence such as `berth deploys NAME lists them`, or `berth up, or berth create NAME`. */
function proposed(stderr: string): string[] {
  const lines = stderr.split('\n').filter((line) => /^ {3}/.test(line))
  const found = lines.flatMap((line) => line.match(/\bberth (?:(?!\bberth ).)+|\bberth\b(?= --help)/g) ?? [])
  return found.map((text) => {
    const command = text.split(/ {2,}#|[,;:] |[,;:`]$|`|\? /)[0]!
    const words = command.trim().split(' ')
    const isVerb = (word: string, at: number) =>
      /^[a-z]+s$/.test(word) && /^[a-z]+$/.test(words[at + 1] ?? '')
    const prose = words.findIndex(
      (word, at) => at > 1 && (word === 'or' || word === 'in' || isVerb(word, at)),
    )
    return (prose === -1 ? words : words.slice(0, prose)).join(' ')
  })
}

const misunderstood =
  /unknown (command|option)|takes no|missing required|argument .* is invalid|internal error of berth/

async function openServer(t: TestContext) {
  const api = await startDatastores(t)
  const create = (body: object) => api.call('POST', '/services', { body })
  await create({ name: 'web', image: 'ghcr.io/ada/web:v1', deploy: false })
  await create({ name: 'shop', repo_url: 'https://example.com/shop.git', deploy: false })
  await create({ name: 'uploads', type: 'web_service', deploy: false })
  await api.make({ name: 'pg' })
  const cwd = temporaryDirectory(t)
  writeFileSync(join(cwd, 'twice.env'), 'D=1\nD=2\n')
  writeFileSync(join(cwd, 'empty.env'), '\n')
  writeFileSync(join(cwd, 'dump.sql'), 'select 1;\n')
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: token }
  return async (words: string[], input = '') => {
    const running = startBerth(t, words, { env, cwd, input })
    // What a deploy or a log follows never ends here.
    const timer = setTimeout(() => running.interrupt(), followedMs)
    return running.ended().finally(() => clearTimeout(timer))
  }
}

const followedMs = 2000

test('at least 95 % of the commands that errors propose are understood, and lead on', async (t) => {
  const berth = await openServer(t)
  const bad: string[] = []
  let count = 0
  let failures = 0
  for (const line of failing) {
    const { code, stderr } = await berth(commandWords(`berth ${line}`))
    if (code === 0) continue
    failures += 1
    for (const next of proposed(stderr)) {
      const words = commandWords(next).map((word) => filled[word] ?? word)
      const { stderr: then } = await berth(words, 'select 1;\n')
      count += 1
      const isSame = then !== '' && then === stderr
      if (isSame || misunderstood.test(then)) bad.push(`${line} → ${next} → ${then.trim()}`)
    }
  }
  t.diagnostic(`${failures} failing commands proposed ${count}, of which ${bad.length} do not lead on`)
  for (const one of bad) t.diagnostic(one)
  assert.ok(failures >= 60 && count >= 60, `${failures} failed, ${count} proposed`)
  assert.ok(bad.length <= count * 0.05, bad.join('\n'))
})
