// The default branch of a service without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'

const suite = daemonSuite()

test('without a branch the default one is deployed and kept, even if the remote changes it', async (t) => {
  const { api } = suite
  const { name, repository } = await createService(t, api, await pageApp('one'), { deploy: false })
  repository.git('branch', '-m', 'master')
  assert.equal((await api.get(`/services/${name}`)).branch, null)
  const deploy = async () => {
    const { id } = await api.post(`/services/${name}/deploys`)
    return finishedDeploy(api, id)
  }

  const first = await deploy()
  assert.deepEqual([first.status, first.source.branch], ['live', 'master'], first.error)
  assert.equal((await api.get(`/services/${name}`)).branch, 'master')

  repository.git('checkout', '--quiet', '-b', 'next')
  repository.commit('Next', { 'www/index.html': 'two' })
  const second = await deploy()
  assert.deepEqual([second.source.branch, second.commit_message.trim()], ['master', 'First'])

  await api.patch(`/services/${name}`, { branch: '' })
  const third = await deploy()
  assert.deepEqual([third.source.branch, third.commit_message.trim()], ['next', 'Next'])
})
