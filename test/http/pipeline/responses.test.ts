// Long JSON responses are compressed for clients that accept it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../support/http/http-context.ts'

test('JSON over 8 KiB is sent with gzip to a client that accepts it, and is the same', async (t) => {
  const { url, call } = await startApi(t)
  const read = async (path: string, accepted: string) => {
    const headers = { authorization: 'Bearer bth_test', 'accept-encoding': accepted }
    const response = await fetch(`${url}${path}`, { headers })
    const text = await response.text()
    return { encoding: response.headers.get('content-encoding'), vary: response.headers.get('vary'), text }
  }
  assert.equal((await read('/api/v1/services', 'gzip')).encoding, null)
  for (let count = 0; count < 12; count++)
    await call('POST', '/api/v1/services', { body: { name: `service-${count}` } })
  const long = '/api/v1/services'
  const plain = await read(long, 'identity')
  const packed = await read(long, 'br, gzip, deflate')

  assert.deepEqual([plain.encoding, plain.vary], [null, null])
  assert.deepEqual([packed.encoding, packed.vary], ['gzip', 'Accept-Encoding'])
  assert.equal(packed.text, plain.text)
  assert.equal(JSON.parse(packed.text).length, 12)
  assert.equal((await read(long, 'gzip;q=0, br')).encoding, null)
  assert.equal((await read('/api/v1/openapi.json', 'gzip')).encoding, 'gzip', 'the document is packed once')
})
