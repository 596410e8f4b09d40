// The control groups of version 2, on a directory that looks like them. Version 1 is tried on real builds.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openBuildCgroup } from '../../../src/docker/build/build-guard.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const limits = { memoryMb: 64, cpus: 1.5, pids: 100 }

test('with cgroup version 2 one group has all limits', (t) => {
  const { places, read } = openTree(t)

  const cgroup = openBuildCgroup('builds', limits, places)

  assert.equal(read('cgroup.subtree_control'), '+memory +cpu +pids')
  assert.equal(read('builds/memory.max'), '67108864')
  assert.equal(read('builds/memory.swap.max'), '0')
  assert.equal(read('builds/pids.max'), '100')
  assert.equal(read('builds/cpu.max'), '150000 100000')
  assert.equal(read('builds/cpu.weight'), '25')
  writeFileSync(join(places.cgroups, 'builds/memory.events'), 'oom 3\noom_kill 2\noom_group_kill 0\n')
  writeFileSync(join(places.cgroups, 'builds/pids.events'), 'max 7\n')
  assert.deepEqual(cgroup.counts(), { kills: 2, refusals: 7 })
})

test('without limits nothing is limited', (t) => {
  const { places, read } = openTree(t)

  openBuildCgroup('builds', { memoryMb: null, cpus: null, pids: null }, places)

  assert.deepEqual(
    ['memory.max', 'memory.swap.max', 'pids.max', 'cpu.max'].map((file) => read(`builds/${file}`)),
    ['max', 'max', 'max', 'max 100000'],
  )
})

test('a step is moved with all its processes, wherever the engine put it', async (t) => {
  const { places, read, addProcess } = openTree(t)
  addProcess(10, 'step', 'system.slice/system.slice:docker:abc')
  addProcess(11, 'step', 'system.slice/system.slice:docker:abc')

  await openBuildCgroup('builds', limits, places).adopt(10)

  assert.match(read('builds/cgroup.procs'), /10\n11\n/)
  assert.equal(read('system.slice/system.slice:docker:abc/pids.max'), '100')
  assert.equal(readFileSync(join(places.proc, '11/oom_score_adj'), 'utf8'), '1000')
})

test('a step that already has more processes than the limit has reached the limit', async (t) => {
  const { places, addProcess } = openTree(t)
  writeFileSync(join(places.cgroups, 'builds/memory.events'), '')
  writeFileSync(join(places.cgroups, 'builds/pids.events'), 'max 0\n')
  const cgroup = openBuildCgroup('builds', { ...limits, pids: 2 }, places)
  addProcess(10, 'step', 'system.slice/one')
  await cgroup.adopt(10)
  assert.equal(cgroup.counts().refusals, 0)

  for (const pid of [20, 21, 22]) addProcess(pid, 'step', 'system.slice/many')
  await cgroup.adopt(20)

  assert.equal(cgroup.counts().refusals, 1)
})

test('a step in a shared group stays there', async (t) => {
  const { places, read, addProcess } = openTree(t)
  addProcess(10, 'step', 'system.slice/docker.service')
  addProcess(5, 'host', 'system.slice/docker.service')

  await openBuildCgroup('builds', limits, places).adopt(10)

  assert.equal(read('builds/cgroup.procs'), '')
  assert.ok(!existsSync(join(places.cgroups, 'system.slice/docker.service/pids.max')))
})

function openTree(t: TestContext) {
  const directory = temporaryDirectory(t)
  const places = { cgroups: join(directory, 'cgroup'), proc: join(directory, 'proc') }
  writeTree(places.cgroups, {
    'cgroup.controllers': 'cpu memory pids\n',
    'builds/memory.swap.max': 'max',
    'builds/cgroup.procs': '',
  })
  const read = (path: string) => readFileSync(join(places.cgroups, path), 'utf8')
  const members = new Map<string, number[]>()
  const addProcess = (pid: number, namespace: string, group: string) => {
    const pids = [...(members.get(group) ?? []), pid]
    members.set(group, pids)
    writeTree(places.cgroups, { [`${group}/cgroup.procs`]: `${pids.join('\n')}\n` })
    writeTree(join(places.proc, String(pid)), {
      cgroup: `0::/${group}\n`,
      oom_score_adj: '0',
      'ns/.keep': '',
    })
    symlinkSync(`pid:[${namespace}]`, join(places.proc, String(pid), 'ns/pid'))
  }
  return { places, read, addProcess }
}
