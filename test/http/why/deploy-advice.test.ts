// Advice for failed deploys, by error code and details.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCodes } from '../../../machines/error-codes.ts'
import { adviseOnDeploy, type FailedDeploy } from '../../../src/http/why/advice.ts'

const web = { name: 'web', type: 'web_service' } as const

function advice(code: string | null, details: FailedDeploy['error_details'] = null, kind = 'git') {
  const deploy = { error_code: code, error_details: details, source: { kind } } as FailedDeploy
  return adviseOnDeploy(deploy, web)
}

test('a deploy that has not failed needs no advice', () => {
  assert.equal(advice(null), null)
})

test('an app on 127.0.0.1 gets no advice to change its port', () => {
  const { hint } = advice('health_check_failed', { reason: 'listens_locally', port: 5000 })!
  assert.match(hint, /^listen on 0\.0\.0\.0 instead of 127\.0\.0\.1/)
})

test('an app that listens on another port gets the command that sets it', () => {
  const { commands } = advice('health_check_failed', { reason: 'wrong_port', port: 5000 })!
  assert.deepEqual(commands, ['berth update web --port 5000', 'berth deploy web'])
})

test('a failing HEALTHCHECK of the image gets no advice to change a path', () => {
  assert.doesNotMatch(advice('health_check_failed', { reason: 'image_healthcheck' })!.hint, /--health-path/)
  assert.match(advice('health_check_failed')!.hint, /--health-path/)
})

test('an app of another protocol gets the command that changes it', () => {
  const { commands } = advice('not_reached', { reason: 'invalid_response' })!
  assert.deepEqual(commands, ['berth update web --protocol h2c', 'berth deploy web'])
  assert.deepEqual(advice('health_check_failed', { reason: 'other_protocol' })!.commands, commands)
  assert.deepEqual(advice('not_reached')!.commands, ['berth deploy web'])
})

test('a disk of another user gets the command that gives it to the user of the image', () => {
  const details = { reason: 'disk_owner', path: '/data/a', disk: '/data', owner: '0:0', user: '1000:1000' }
  for (const code of ['instance_failed', 'health_check_failed', 'exited_early']) {
    const { commands } = advice(code, details)!
    assert.deepEqual(commands, ['berth disks chown web /data 1000:1000', 'berth deploy web'], code)
  }
})

test('for a missing branch the default branch is suggested if the remote has one', () => {
  const { commands } = advice('source_not_found', { default_branch: 'trunk' })!
  assert.deepEqual(commands, ['berth update web --branch trunk', 'berth deploy web'])
  assert.equal(
    advice('source_not_found')!.hint,
    'correct the branch, commit or folder that is missing, then: berth deploy web',
  )
})

test('an unknown code, and a failed upload, suggest another upload', () => {
  assert.equal(advice('a_later_code', null, 'archive')!.hint, 'fix what the error names, then: berth up web')
})

test('a build that failed names its step, if it is known', () => {
  const { hint } = advice('build_failed', { step: 'RUN npm ci' }, 'archive')!
  assert.equal(hint, 'fix the step RUN npm ci, then: berth up web')
  assert.equal(advice('build_failed')!.hint, 'fix the step that failed, then: berth deploy web')
})

test('no failure of a deploy ends in advice that names nothing to fix', () => {
  for (const code of errorCodes) assert.doesNotMatch(advice(code)!.hint, /fix it/, code)
})

test('the error code exited_early gets a hint about static sites', () => {
  const early = (kind: string, type: string = web.type) => {
    const deploy = { error_code: 'exited_early', source: { kind } } as FailedDeploy
    return adviseOnDeploy(deploy, { name: 'web', type } as typeof web)!.hint
  }
  const create = 'berth create web-site --type static_site --publish-dir FOLDER'
  assert.ok(early('archive').endsWith(`: ${create}, then: berth up web-site`))
  assert.ok(early('git').endsWith(`: ${create} --repo URL`))
  for (const other of [early('image'), early('reuse'), early('git', 'background_worker')]) {
    assert.doesNotMatch(other, /static_site/)
  }
})

test('every command of a piece of advice is in its hint', () => {
  const cases = [
    advice('superseded', { deploy_id: 'dep-2' }),
    advice('canceled'),
    advice('out_of_memory'),
    advice('health_check_failed', { reason: 'nothing_listens', port: 3000 }),
    advice('site_not_found', { folder: 'dist' }),
    advice('git_remote_unreachable'),
    advice('image_gone'),
    advice('unresolved_reference', { variable: 'KEY' }),
  ]
  for (const { hint, commands } of cases.map((one) => one!)) {
    assert.ok(commands.length > 0)
    for (const command of commands) assert.ok(hint.includes(command), `${hint} | ${command}`)
  }
})
