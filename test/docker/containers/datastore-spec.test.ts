// The container of a datastore in Docker's words, and what of it counts as another request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatastoreSpec, wantedDatastore } from '../../../src/docker/containers/datastores.ts'
import { testMac } from '../../support/system/test-mac.ts'

const owner = { prefix: 'berth', serverId: 'one', mac: testMac }
const host = { cpus: 2, loggingDriver: 'json-file' }
const spec: DatastoreSpec = {
  id: 'dst-01',
  name: 'shop-db',
  volume: 'berth-datastore-shop-db',
  image: 'postgres:17-alpine',
  network: 'berth',
  address: '10.201.0.2',
  env: { POSTGRES_USER: 'ada', POSTGRES_PASSWORD: 'a=b c' },
  script: null,
  mountPath: '/var/lib/postgresql/data',
  port: { inside: 5432, host: 25_001, bind: '127.0.0.1' },
  restart: 'no',
  memoryLimitMb: 512,
  cpuLimit: 0.5,
  pidsLimit: 1024,
}
const hashOf = (changes: Partial<DatastoreSpec> = {}) => wantedDatastore(owner, { ...spec, ...changes }).hash
const optionsOf = (changes: Partial<DatastoreSpec> = {}, traits = host) =>
  wantedDatastore(owner, { ...spec, ...changes }).options(traits)

test('a datastore has its limits, labels, volume, address and host port', () => {
  const { name, restart } = wantedDatastore(owner, spec)
  assert.deepEqual([name, restart], ['berth-datastore-shop-db', 'no'])
  assert.deepEqual(optionsOf(), {
    name: 'berth-datastore-shop-db',
    Image: 'postgres:17-alpine',
    Env: ['POSTGRES_USER=ada', 'POSTGRES_PASSWORD=a=b c'],
    Labels: {
      'berth.instance': 'berth',
      'berth.server': 'one',
      'berth.kind': 'datastore',
      'berth.id': 'dst-01',
      'berth.service': 'shop-db',
      'berth.spec': hashOf(),
    },
    ExposedPorts: { '5432/tcp': {} },
    StopTimeout: 60,
    HostConfig: {
      NetworkMode: 'berth',
      RestartPolicy: { Name: 'no' },
      CapDrop: ['ALL'],
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE'],
      SecurityOpt: ['no-new-privileges:true'],
      Mounts: [{ Type: 'volume', Source: 'berth-datastore-shop-db', Target: '/var/lib/postgresql/data' }],
      PortBindings: { '5432/tcp': [{ HostIp: '127.0.0.1', HostPort: '25001' }] },
      ShmSize: 1073741824,
      OomScoreAdj: 100,
      Memory: 536870912,
      MemorySwap: 536870912,
      NanoCpus: 500000000,
      PidsLimit: 1024,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
    },
    NetworkingConfig: {
      EndpointsConfig: { berth: { IPAMConfig: { IPv4Address: '10.201.0.2' }, Aliases: ['shop-db'] } },
    },
  })
})

test('a script replaces the command of the image, as one argument of the shell', () => {
  const script = 'exec server "$SECRET"'
  const { Entrypoint, Cmd } = optionsOf({ script })
  assert.deepEqual([Entrypoint, Cmd], [['sh', '-c'], [script]])
  assert.ok(!('Entrypoint' in optionsOf()))
})

test('secrets are only in the environment', () => {
  const { Env, ...others } = optionsOf({ env: { PASSWORD: 'canary' }, script: 'exec "$PASSWORD"' })
  assert.deepEqual(Env, ['PASSWORD=canary'])
  assert.ok(!JSON.stringify(others).includes('canary'))
})

test('limits and the restart policy change in place, without a new request hash', () => {
  const same: Partial<DatastoreSpec>[] = [
    { memoryLimitMb: 16 },
    { cpuLimit: 2 },
    { pidsLimit: 64 },
    { restart: 'unless-stopped' },
  ]
  assert.deepEqual(
    same.map(hashOf),
    same.map(() => hashOf()),
  )
})

test('any other change changes the request hash', () => {
  const changes: Partial<DatastoreSpec>[] = [
    { id: 'dst-02' },
    { name: 'other' },
    { image: 'postgres:16-alpine' },
    { network: 'other' },
    { address: '10.201.0.3' },
    { env: { ...spec.env, POSTGRES_PASSWORD: 'other' } },
    { env: {} },
    { script: '' },
    { mountPath: '/var/lib/postgresql' },
    { port: { ...spec.port, inside: 6379 } },
    { port: { ...spec.port, host: 25_002 } },
    { port: { ...spec.port, bind: '0.0.0.0' } },
  ]
  assert.equal(new Set([hashOf(), ...changes.map(hashOf)]).size, changes.length + 1)
})
