import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerSpec, type InstanceSpec, specHash } from '../../../src/docker/containers/spec.ts'

const owner = { prefix: 'berth', serverId: 'one' }
const host = { cpus: 2, loggingDriver: 'json-file' }
const spec: InstanceSpec = {
  name: 'berth-web-01-0',
  image: 'berth/web:dep-01',
  serviceId: 'svc-01',
  serviceName: 'web',
  deployId: 'dep-01',
  index: 0,
  network: 'berth',
  address: '10.201.0.2',
  env: [{ key: 'GREETING', value: 'a = b' }],
  command: null,
  memoryLimitMb: 512,
  cpuLimit: 0.5,
  pidsLimit: 1024,
  volume: null,
  restart: 'no',
}

test('an instance has limits, labels, no new privileges and its fixed address', () => {
  assert.deepEqual(containerSpec(owner, spec, host), {
    name: 'berth-web-01-0',
    Image: 'berth/web:dep-01',
    Env: ['GREETING=a = b'],
    Labels: {
      'berth.instance': 'berth',
      'berth.server': 'one',
      'berth.kind': 'deploy',
      'berth.id': 'dep-01',
      'berth.service': 'web',
      'berth.service-id': 'svc-01',
      'berth.index': '0',
      'berth.spec': specHash(spec),
    },
    HostConfig: {
      NetworkMode: 'berth',
      RestartPolicy: { Name: 'no' },
      CapDrop: ['ALL'],
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE'],
      SecurityOpt: ['no-new-privileges:true'],
      Mounts: [],
      OomScoreAdj: 300,
      Init: true,
      Memory: 536870912,
      MemorySwap: 536870912,
      NanoCpus: 500000000,
      PidsLimit: 1024,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
    },
    NetworkingConfig: {
      EndpointsConfig: { berth: { IPAMConfig: { IPv4Address: '10.201.0.2' }, Aliases: ['web'] } },
    },
  })
})

test('a start command replaces the command of the image, under an init that forwards signals', () => {
  const { Entrypoint, Cmd, HostConfig } = containerSpec(
    owner,
    { ...spec, command: 'npm start && true' },
    host,
  )

  assert.deepEqual([Entrypoint, Cmd, HostConfig?.Init], [['sh', '-c'], ['npm start && true'], true])
})

test('a disk is mounted as the named volume', () => {
  const volume = { name: 'berth-svc-01', mountPath: '/data' }

  const { HostConfig } = containerSpec(owner, { ...spec, volume }, host)

  assert.deepEqual(HostConfig?.Mounts, [{ Type: 'volume', Source: 'berth-svc-01', Target: '/data' }])
})

test('a log driver configured on the host is kept', () => {
  const { HostConfig } = containerSpec(owner, spec, { ...host, loggingDriver: 'journald' })

  assert.equal(HostConfig?.LogConfig, undefined)
})

test('CPUs are capped at those of the host', () => {
  const { HostConfig } = containerSpec(owner, { ...spec, cpuLimit: 16 }, host)

  assert.equal(HostConfig?.NanoCpus, 2e9)
})

test('the hash reflects any change of the request except the restart policy', () => {
  const changes: Partial<InstanceSpec>[] = [
    { image: 'other' },
    { index: 1 },
    { address: '10.201.0.3' },
    { env: [{ key: 'GREETING', value: 'a' }] },
    { env: [] },
    { command: 'x' },
    { memoryLimitMb: 1 },
    { cpuLimit: 1 },
    { pidsLimit: 1 },
    { volume: { name: 'v', mountPath: '/a' } },
    { volume: { name: 'v', mountPath: '/b' } },
  ]

  const hashes = changes.map((change) => specHash({ ...spec, ...change }))

  assert.equal(new Set([...hashes, specHash(spec)]).size, changes.length + 1)
  assert.equal(specHash({ ...spec, restart: 'unless-stopped' }), specHash(spec))
})
