import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerSpec, type InstanceSpec, specHash } from '../../../src/docker/containers/spec.ts'
import {
  type ContainerKind,
  imageName,
  instanceKind,
  jobKind,
  preDeployKind,
} from '../../../src/docker/engine/names.ts'
import { testMac } from '../../support/system/test-mac.ts'

const owner = { prefix: 'berth', serverId: 'one', mac: testMac }
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
      'berth.spec': specHash(owner, spec),
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

test('the volumes of an image have labels, except at the path of the disk and in commands', () => {
  const volume = { name: 'berth-svc-01', mountPath: '/data/' }
  const image = { hasInit: false, volumePaths: ['/', '/data', '/data/cache', 'relative'] }
  const targetsOf = (kind: ContainerKind) =>
    containerSpec(owner, { ...spec, kind, volume }, host, image).HostConfig?.Mounts?.map((mount) => [
      mount.Target,
      mount.VolumeOptions?.Labels['berth.service'],
    ])

  assert.deepEqual(targetsOf(instanceKind), [
    ['/data/', undefined],
    ['/data/cache', 'web'],
  ])
  assert.deepEqual(targetsOf(jobKind), [['/data/', undefined]])
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

  const hashes = changes.map((change) => specHash(owner, { ...spec, ...change }))

  assert.equal(new Set([...hashes, specHash(owner, spec)]).size, changes.length + 1)
  assert.equal(specHash(owner, { ...spec, restart: 'unless-stopped' }), specHash(owner, spec))
})

test('containers of the version whose names had no MAC have the hashes of the same requests', () => {
  const [deployId, jobId] = ['dep-01hzy7k9m00000000000000000', 'job-01hzy7k9m00000000000000000']
  const request: InstanceSpec = {
    ...spec,
    deployId,
    index: 1,
    env: [],
    memoryLimitMb: 64,
    cpuLimit: 1,
    pidsLimit: 64,
    image: imageName(owner, 'web', 'dep-01hzy7k9m00000000000000001'),
  }

  const hashes = [
    request,
    { ...request, deployId: jobId, index: 0, kind: jobKind } as const,
    { ...request, index: 50, kind: preDeployKind } as const,
  ].map((one) => specHash(owner, one))

  // Printed by that version.
  assert.deepEqual(hashes, [
    '7de77d678e4108db302ec14a93b344e654c2f4af0b2684008a44079e48f2602f',
    'f3a2adef3a20293fd780ed8a6a86866eef9adc6d6914f048d33c441abd0d5123',
    'f67e86ad301e8281afafe1ad0d4984e3bef5882fef62587c8ab388a34e74c4f9',
  ])
})
