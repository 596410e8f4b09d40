// The service of the package under a real systemd, on hosts of their own: how it starts, stops, dies, hangs
// and boots, and what its unit limits. Visitors of a deployed app must notice none of it.
import assert from 'node:assert/strict'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { fileScope } from './support/daemon/scope.ts'
import { until } from './support/docker/docker-site.ts'
import {
  asAdmin,
  fetchPage,
  packagesOfTests,
  startVisits,
  useTestImages,
  writeApp,
} from './support/nspawn/berth-host.ts'
import { bootHost, type Host } from './support/nspawn/host.ts'
import { bareRoot, type Release, releaseNames, releases, whyNoHost } from './support/nspawn/root.ts'

const scope = fileScope()
let packages: Record<Release, string>

before(async () => {
  packages = await packagesOfTests(scope)
})

for (const release of releases) {
  test(`on ${releaseNames[release]}`, { skip: whyNoHost }, (t) => service(t, release))
}

async function service(t: TestContext, release: Release): Promise<void> {
  const root = await bareRoot(t, release)
  let host = await bootHost(t, root)
  await copyFile(packages[release], join(root, 'berth.deb'))
  await host.script('cd /; apt-get install --yes ./berth.deb 2>&1')
  const image = await useTestImages(host)
  const berth = (command: string) => host.script(`cd /srv/web; ${asAdmin(`berth ${command}`)} 2>&1 || :`)
  const unit = async (name: string) =>
    (await host.run('systemctl', 'show', '--value', `--property=${name}`, 'berth')).trim()
  const journal = (match: string) =>
    host.script(`journalctl --sync; journalctl -u berth -o cat ${match} || :`)
  const app = (answer: string, ...steps: string[]) =>
    writeApp(join(root, 'srv/web'), { image, answer, steps })
  const isServed = (answer: string) =>
    until(answer, async () => (await fetchPage(host).catch(() => '')) === `${answer}\n`)
  const deploys = async (): Promise<{ id: string; status: string }[]> =>
    JSON.parse(await host.script(asAdmin('berth deploys web --json')))
  /** Resolves while the build of this version runs. */
  const startDeploy = async (answer: string) => {
    await app(answer, `RUN sleep 10; : ${answer}`)
    const { id } = JSON.parse(await host.script(`cd /srv/web; ${asAdmin('berth up --no-follow --json')}`))
    await until('its step', async () => (await host.script(findStep)) !== '')
    return id as string
  }
  /** Resolves when systemd has started it again. */
  const restarted = async (count: number) => {
    await until('the restart', async () => (await unit('NRestarts')) === String(count))
    await until('the daemon', async () => (await unit('ActiveState')) === 'active')
    assert.equal(await health(host), 'ok')
  }

  await app('one')
  assert.match(await berth('up --yes'), / live +http/)
  await isServed('one')

  await t.test('it stops in order, and a start returns when it answers', async () => {
    await withVisits(host, async () => {
      await host.run('systemctl', 'stop', 'berth')
      assert.equal(await unit('ActiveState'), 'inactive')
      assert.equal(await unit('Result'), 'success')
      assert.equal(await fetchPage(host), 'one\n')
      await host.run('systemctl', 'start', 'berth')
      assert.equal(await health(host), 'ok')
    })
    assert.equal(await unit('NRestarts'), '0')
    assert.equal(await host.run('systemctl', 'list-units', '--failed', '--no-legend', 'berth*'), '')
  })

  await t.test('a kill in the middle of a deploy loses nothing', async () => {
    await withVisits(host, async () => {
      const id = await startDeploy('two')
      await host.script('kill -KILL $(systemctl show --value --property=MainPID berth)')
      await restarted(1)
      await isServed('two')
      await until('its end', async () => (await deploys())[0]?.status === 'live')
      assert.equal((await deploys())[0]?.id, id)
      assert.match(await journal(`BERTH_SERVICE=web BERTH_DEPLOY=${id}`), /^a deploy has its outcome/m)
    })
  })

  await t.test('one that hangs is killed, and started again', async () => {
    assert.equal(await unit('WatchdogUSec'), '1min')
    const dropIn = '/run/systemd/system/berth.service.d'
    await host.script(`
      mkdir ${dropIn}; printf '[Service]\\nWatchdogSec=10s\\n' >${dropIn}/watchdog.conf
      systemctl daemon-reload; systemctl restart berth`)
    const hangs = {
      stopped: () => host.script('kill -STOP $(systemctl show --value --property=MainPID berth)'),
      busy: async () => host.run('/usr/lib/berth/bin/node', '-e', blockProgram, await unit('MainPID')),
    }
    await withVisits(host, async () => {
      for (const [count, hang] of Object.values(hangs).entries()) {
        await hang()
        await restarted(count + 1)
      }
    })
    const lines = await journal(`--grep='Watchdog timeout|event loop was blocked'`)
    assert.equal(lines.match(/Watchdog timeout \(limit 10s\)!/g)?.length, 2, lines)
    assert.equal(lines.match(/the last process .* ended itself .*event loop was blocked/g)?.length, 2, lines)
    await host.script(`rm -r ${dropIn}; systemctl daemon-reload; systemctl restart berth`)
  })

  await t.test('a reload takes changed options without a restart', async () => {
    const pid = await unit('MainPID')
    await host.script('echo BERTH_DEFAULT_MEMORY_LIMIT=300 >>/etc/berth/berth.env; systemctl reload berth')
    assert.match(await berth('info'), /300 MiB/)
    assert.equal(await unit('MainPID'), pid)
  })

  await t.test('builds stay within their limits', async () => {
    const limits = 'BERTH_BUILD_PIDS_LIMIT=64\\nBERTH_BUILD_MEMORY_LIMIT=64\\n'
    await host.script(`printf '${limits}' >>/etc/berth/berth.env; systemctl restart berth`)
    const isLimited = 'until grep -q 1000 /proc/self/oom_score_adj; do sleep 0.1; done'
    await app('bomb', `RUN ${isLimited}; b() { b | b & }; b; sleep 5; exit 3`)
    assert.match(await berth('up'), /builds reached their limit of 64 processes \(--build-pids-limit\)/)
    await app('glutton', `RUN ${isLimited}; tail -c 200m /dev/zero`)
    assert.match(await berth('up'), /killed at the memory limit of builds, 64 MiB/)
    await host.script(`sed -i '/^BERTH_BUILD_/d' /etc/berth/berth.env; systemctl restart berth`)
  })

  await t.test('the units are as closed as the manual says', async () => {
    const manual = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8')
    const [, daemon, builds] = /rates it ([\d.]+) \(.*`berth-builds\.service` ([\d.]+)\./.exec(manual) ?? []
    for (const [name, score] of Object.entries({ berth: daemon, 'berth-builds': builds })) {
      const said = await host.run('systemd-analyze', 'security', '--no-pager', `${name}.service`)
      const rated = /Overall exposure level for \S+: ([\d.]+)/.exec(said)?.[1]
      console.error(`${releaseNames[release]}: ${name}.service is rated ${rated}`)
      assert.ok(Number(rated) <= Number(score), said)
    }
  })

  await t.test('it boots without Docker, and serves when Docker comes', async () => {
    await host.run('systemctl', 'mask', 'docker.service', 'docker.socket')
    await host.powerOff()
    host = await bootHost(t, root)
    assert.equal(await unit('ActiveState'), 'active')
    await health(host)
    assert.match(await berth('doctor'), /docker_unreachable/)
    const pid = await unit('MainPID')
    await host.script('systemctl unmask docker.service docker.socket; systemctl start docker')
    await isServed('two')
    assert.equal(await unit('MainPID'), pid)
  })

  await t.test('a restart of Docker in the middle of a deploy loses nothing', async () => {
    const pid = await unit('MainPID')
    const id = await startDeploy('three')
    await host.run('systemctl', 'restart', 'docker')
    await isServed('three')
    await until('its end', async () => (await deploys())[0]?.status === 'live')
    assert.equal((await deploys())[0]?.id, id)
    assert.equal(await unit('MainPID'), pid)
  })

  await t.test('everything comes back with the host', async () => {
    await host.powerOff()
    host = await bootHost(t, root)
    await isServed('three')
    assert.equal(await health(host), 'ok')
    assert.equal(await unit('NRestarts'), '0')
  })
}

/** None of their requests may fail while the work is done. */
async function withVisits(host: Host, work: () => Promise<void>): Promise<void> {
  const visits = await startVisits(host)
  await work()
  const { answered, failures } = await visits.end()
  assert.deepEqual(failures.slice(0, 5), [])
  assert.ok(answered > 0)
}

/** Its own command line must not be found. */
const findStep = `grep -als 'sleep.[1]0' /proc/[0-9]*/cmdline || :`

/** Rejects if nothing listens. */
async function health(host: Host): Promise<string> {
  return (await host.run('/usr/lib/berth/bin/node', '-e', healthProgram)).trim()
}

const healthProgram = `
fetch('http://127.0.0.1:7878/healthz').then((answer) => answer.text()).then(console.log)`

/** Has a process of Node run a loop without an end: SIGUSR1 opens its debugger. */
const blockProgram = `
const WebSocket = require('/usr/lib/berth/node_modules/ws')
const params = { expression: 'for (;;);' }
const block = async () => {
  const [page] = await (await fetch('http://127.0.0.1:9229/json')).json()
  const socket = new WebSocket(page.webSocketDebuggerUrl)
  socket.on('open', () => socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }), () => {
    setTimeout(() => process.exit(), 500)
  }))
}
process.kill(process.argv[1], 'SIGUSR1')
const retry = () => block().catch(() => setTimeout(retry, 100))
retry()`
