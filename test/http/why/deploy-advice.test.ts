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

const disk = { reason: 'disk_owner', path: '/data/a', disk: '/data', owner: '0:0', user: '1000:1000' }
const chown = ['berth disks chown web /data 1000:1000', 'berth deploy web']
const h2c = ['berth update web --protocol h2c', 'berth deploy web']
const commandsFor: [code: string, details: FailedDeploy['error_details'], commands: string[]][] = [
  [
    'health_check_failed',
    { reason: 'wrong_port', port: 5000 },
    ['berth update web --port 5000', 'berth deploy web'],
  ],
  ['health_check_failed', { reason: 'other_protocol' }, h2c],
  ['not_reached', { reason: 'invalid_response' }, h2c],
  ['not_reached', null, ['berth deploy web']],
  ['instance_failed', disk, chown],
  ['health_check_failed', disk, chown],
  ['exited_early', disk, chown],
  [
    'build_failed',
    { reason: 'variable', variable: 'DATABASE_URL' },
    ['berth env set web DATABASE_URL=VALUE', 'berth update web --build-env DATABASE_URL', 'berth deploy web'],
  ],
  ['site_not_found', null, ['berth update web --publish-dir FOLDER', 'berth deploy web']],
  ['recipe_not_found', { app: 'apps/web' }, ['berth update web --root-dir apps/web', 'berth deploy web']],
  ['recipe_not_found', null, ['berth update web --start-command COMMAND']],
  ['dockerfile_not_found', { builder: 'recipe' }, ['berth update web --builder recipe']],
  ['source_not_found', { default_branch: 'trunk' }, ['berth update web --branch trunk', 'berth deploy web']],
]

test('a failure gets the commands that correct its cause', () => {
  for (const [code, details, commands] of commandsFor) {
    assert.deepEqual(advice(code, details)!.commands, commands, `${code} ${JSON.stringify(details)}`)
  }
})

test('a failure that no command corrects names what to change', () => {
  const { hint } = advice('health_check_failed', { reason: 'listens_locally', port: 5000 })!
  assert.match(hint, /^listen on 0\.0\.0\.0 instead of 127\.0\.0\.1/)
  assert.doesNotMatch(advice('health_check_failed', { reason: 'image_healthcheck' })!.hint, /--health-path/)
  assert.match(advice('health_check_failed')!.hint, /--health-path/)
  const build = advice('build_failed', { step: 'RUN npm ci' }, 'archive')!
  assert.equal(build.hint, 'fix the step RUN npm ci, then: berth up web')
  assert.match(
    advice('build_failed', { step: 'RUN npm ci', reason: 'lock_file' })!.hint,
    /lock file does not fit/,
  )
  const base = { step: '[internal] load metadata for docker.io/library/node:99' }
  assert.match(advice('build_failed', base)!.hint, /base image of the Dockerfile/)
  assert.doesNotMatch(advice('build_failed', { ...base, builder: 'recipe' })!.hint, /Dockerfile/)
  assert.equal(advice('a_later_code', null, 'archive')!.hint, 'fix what the error names, then: berth up web')
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
    advice('site_not_found'),
    advice('git_remote_unreachable'),
    advice('image_gone'),
    advice('unresolved_reference', { variable: 'KEY' }),
  ]
  for (const { hint, commands } of cases.map((one) => one!)) {
    assert.ok(commands.length > 0)
    for (const command of commands) assert.ok(hint.includes(command), `${hint} | ${command}`)
  }
})
