// HAProxy as an administrator would configure it for one service: with a request id, safe forwarding headers,
// a body limit, retries, and a JSON access log that is collected.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/daemon/service.ts'
import { edgeArgs, portOf } from '../support/edge/edge.ts'
import { requestAt } from '../support/edge/running-edge.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import type { Target } from './load.ts'

export async function startPlainProxy(
  bench: Bench,
  { host, upstream }: { host: string; upstream: string },
): Promise<Target> {
  const port = portOf(await edgeArgs('host'), '--http-port')
  const configuration = join(temporaryDirectory(bench), 'haproxy.cfg')
  const logPort = await takeLog(bench)
  writeFileSync(configuration, plainConfiguration({ port, host, upstream, logPort }))
  const child = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' })
  bench.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await until('the plain proxy to answer', async () => (await requestAt(port)(host)).status === 200)
  return { url: `http://127.0.0.1:${port}`, headers: { host }, pid: child.pid! }
}

/** Receives and discards log lines; returns the port. */
async function takeLog(bench: Bench): Promise<number> {
  const taker = createSocket('udp4', () => undefined)
  taker.bind(0, '127.0.0.1')
  await once(taker, 'listening')
  bench.after(async () => void taker.close())
  return taker.address().port
}

interface Plain {
  port: number
  host: string
  upstream: string
  logPort: number
}

function plainConfiguration({ port, host, upstream, logPort }: Plain): string {
  const fields = [
    '"at":%[date(0,ms)],"id":"%[var(txn.id)]","client":"%[src]","host":"%[var(txn.host),json(utf8s)]"',
    '"method":"%[capture.req.method,json(utf8s)]","path":"%[var(txn.path),json(utf8s)]","status":%ST',
    '"in":%U,"out":%B,"ms":%Ta,"server":"%s","agent":"%[var(txn.agent),json(utf8s)]"',
  ]
  return `global
 maxconn 8000
 log 127.0.0.1:${logPort} len 4000 format raw local0
defaults
 mode http
 log global
 option dontlognull
 option abortonclose
 http-reuse safe
 retries 3
 retry-on conn-failure empty-response
 timeout connect 2s
 timeout client 75s
 timeout server 75s
 timeout http-request 10s
 timeout tunnel 1h
frontend http
 bind *:${port}
 http-request set-var(txn.id) uuid()
 http-request set-var(txn.host) req.hdr(host)
 http-request set-var(txn.path) path
 http-request set-var(txn.agent) req.hdr(user-agent)
 http-request del-header x-forwarded- -m beg
 http-request set-header x-request-id %[var(txn.id)]
 http-request set-header x-forwarded-for %[src]
 http-request set-header x-forwarded-proto http
 http-request set-header x-forwarded-host %[req.hdr(host)]
 http-request set-header x-real-ip %[src]
 http-request disable-l7-retry unless { method GET HEAD OPTIONS }
 http-request deny deny_status 413 if { req.hdr(content-length) -m int gt 536870912 }
 http-after-response set-header x-request-id %[var(txn.id)]
 log-format '{${fields.join(',')}}'
 use_backend web if { req.hdr(host),field(1,:),lower ${host} }
backend web
 balance leastconn
 server s1 ${upstream}
`
}
