// The rules in a real kernel: in a namespace, on a bridge without containers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFirewall } from '../../src/firewall/firewall.ts'
import { type RuleSet, tableOf } from '../../src/firewall/rules.ts'
import { run } from '../support/system/command.ts'
import { whyNoFirewall } from '../support/system/firewall.ts'
import { isInside, runInside, whyNoNamespace } from '../support/system/namespace.ts'

const table = tableOf('ip')
const some: RuleSet = {
  table,
  bridge: 'br-test',
  hostPorts: [443, 80, 53],
  pairs: [
    ['10.0.0.2', '10.0.0.3'],
    ['10.0.0.2', '10.0.0.3'],
  ],
  shared: ['10.0.0.4'],
  hostPairs: [['10.0.0.2', 5432]],
}

async function outside(): Promise<void> {
  const skip = (await whyNoNamespace()) ?? (await whyNoFirewall()) ?? false
  test('the kernel accepts the rules, and changes by others are detected', { skip }, async () => {
    const { code, lines } = await runInside(import.meta.url, {})
    assert.equal(code, 0, lines.join('\n'))
  })
}

const nft = (...args: string[]) => run('nft', args)

async function inside(): Promise<void> {
  const firewall = openFirewall()
  assert.equal(await firewall.isInForce(), false)
  await assert.rejects(firewall.apply(some), /^Error: ip failed: Cannot find device "br-test"$/)
  await run('ip', ['link', 'add', 'br-test', 'type', 'bridge'])
  await firewall.apply({ ...some, pairs: [], shared: [], hostPairs: [] })
  assert.equal(await firewall.isInForce(), true)
  await firewall.apply(some)
  const text = await nft('list', 'table', 'inet', table)
  for (const part of ['10.0.0.2 . 10.0.0.3', '10.0.0.4', '10.0.0.2 . 5432', 'tcp dport { 53, 80, 443 }'])
    assert.ok(text.includes(part), `${part} in ${text}`)

  const damages: [string, string[]][] = [
    ['nft', ['flush', 'chain', 'inet', table, 'refuse']],
    ['nft', ['insert', 'rule', 'inet', table, 'between_containers', 'accept']],
    ['nft', ['delete', 'table', 'inet', table]],
    ['nft', ['flush', 'ruleset']],
    ['ip', ['link', 'set', 'dev', 'br-test', 'type', 'bridge', 'nf_call_iptables', '0']],
    ['ip', ['link', 'delete', 'br-test']],
  ]
  for (const [program, args] of damages) {
    await firewall.apply(some)
    assert.equal(await firewall.isInForce(), true)
    await run(program, args)
    assert.equal(await firewall.isInForce(), false, args.join(' '))
  }
}

if (isInside) test('inside', inside)
else await outside()
