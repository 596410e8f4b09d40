// A real name server (BIND) with the zone example.com, which a TSIG key may update. Stopped after the test.
import { spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../daemon/service.ts'
import { commandEnv } from '../system/command.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

export interface Bind {
  /** A key file in the format of `tsig-keygen`. */
  keyFile: string
  /** The values of a TXT record on the server; empty for a name that does not exist. */
  texts(name: string): Promise<string[]>
}

export const tsigSecret = 'c2VjcmV0LW9mLXRoZS10ZXN0LXpvbmUtMDEyMzQ1Njc='

/** Listens on port 53 of the address, to which every name below example.com resolves. */
export async function startBind(t: Scope, address: string): Promise<Bind> {
  const directory = temporaryDirectory(t)
  const keyFile = join(directory, 'tsig.key')
  writeFileSync(keyFile, `key "berth" {\n\talgorithm hmac-sha256;\n\tsecret "${tsigSecret}";\n};\n`)
  const zone = [
    '$TTL 60',
    '@ IN SOA ns1 hostmaster 1 3600 600 86400 60',
    '  IN NS ns1',
    `ns1 IN A ${address}`,
    `* IN A ${address}`,
    `*.apps IN A ${address}`,
  ]
  writeFileSync(join(directory, 'example.com.zone'), `${zone.join('\n')}\n`)
  const config = `include "${keyFile}";
options { directory "${directory}"; listen-on port 53 { ${address}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; pid-file none; session-keyfile none; };
controls { };
zone "example.com" { type primary; file "example.com.zone";
  update-policy { grant berth zonesub TXT; }; };
`
  writeFileSync(join(directory, 'named.conf'), config)
  const log = openSync(join(directory, 'named.log'), 'a')
  const child = spawn('named', ['-f', '-4', '-n', '1', '-c', join(directory, 'named.conf')], {
    stdio: ['ignore', log, log],
    env: commandEnv,
  })
  t.after(async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit')
  })
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([address])
  await until('the name server', async () => {
    if (child.exitCode !== null)
      throw new Error(readFileSync(join(directory, 'named.log'), 'utf8').slice(-2000))
    return resolver.resolveNs('example.com').catch(() => null)
  })
  const texts = async (name: string) => {
    const found = await resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
      throw error
    })
    return found.map((parts) => parts.join(''))
  }
  return { keyFile, texts }
}
