// The accepted Host headers, and the proxies whose X-Forwarded-* headers are trusted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHostCheck, createProxyTrust } from '../../../src/http/pipeline/origin.ts'

test('loopback, the listen address and the dashboard’s host are accepted, at any port', () => {
  const isOwn = createHostCheck(['192.0.2.7', 'berth.example.com'])
  const hosts = ['localhost', '127.0.0.1', '[::1]', '192.0.2.7', 'berth.example.com', 'Berth.Example.COM']

  for (const host of hosts) {
    for (const port of ['', ':80', ':7878', ':65535']) assert.equal(isOwn(host + port), true, host + port)
  }
})

test('every other host is rejected, even similar ones', () => {
  const isOwn = createHostCheck(['192.0.2.7', 'berth.example.com'])
  const foreign = [
    '',
    ':7878',
    'evil.example',
    'xlocalhost',
    'localhost.evil.example',
    'berth.example.com.evil.example',
    'evil.berth.example.com',
    '127.0.0.2',
    '192.0.2.70',
    '::1',
    '[::2]:80',
    'localhost:80:80',
    'localhost:',
    'localhost:x',
    'localhost@evil.example',
    'localhost evil.example',
  ]

  for (const host of foreign) assert.equal(isOwn(host), false, host)
})

test('without a dashboard host, an empty host does not match it', () => {
  const isOwn = createHostCheck(['0.0.0.0', ''])

  assert.deepEqual([isOwn(''), isOwn(':7878'), isOwn('0.0.0.0:7878')], [false, false, true])
})

test('without proxies no address is trusted', () => {
  const isTrusted = createProxyTrust([])

  for (const address of ['127.0.0.1', '::1', '10.0.0.5', '']) assert.equal(isTrusted(address), false, address)
})

test('a proxy is trusted by its address or its network, for IPv4 and IPv6', () => {
  const isTrusted = createProxyTrust(['10.0.0.5', '192.168.0.0/16', 'fd00::7', '2001:db8::/32'])
  const trusted = [
    '10.0.0.5',
    '192.168.0.0',
    '192.168.255.255',
    'fd00::7',
    'FD00::7',
    '2001:db8::1',
    'fd00:0000:0000:0000:0000:0000:0000:0007',
    '2001:0db8:ffff:0000:0000:0000:0000:0001',
  ]
  const strangers = [
    '10.0.0.6',
    '10.0.0.50',
    '192.169.0.0',
    'fd00::8',
    '2001:db9::1',
    '::1',
    '127.0.0.1',
    '',
    'unknown',
    'proxy.example',
    '10.0.0.5:80',
    '10.0.0.5, 10.0.0.5',
    '[fd00::7]',
    '10.0.0',
  ]

  for (const address of trusted) assert.equal(isTrusted(address), true, address)
  for (const address of strangers) assert.equal(isTrusted(address), false, address)
})

test('a network with a zero-length prefix contains all addresses of its family', () => {
  const isTrusted = createProxyTrust(['0.0.0.0/0'])

  assert.deepEqual([isTrusted('203.0.113.9'), isTrusted('2001:db8::1')], [true, false])
})

test('text that is neither an address nor a network is named', () => {
  const words = { message: "'proxy.example' is neither an address nor a network" }

  assert.throws(() => createProxyTrust(['10.0.0.5', 'proxy.example']), words)
  assert.throws(() => createProxyTrust(['proxy.example/8']))
})
