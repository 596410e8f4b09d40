// The next command after a deploy that did not go live, and after a setting was changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hintFor } from '../../../src/cli/deploy/hints.ts'
import { actAtOnce, needDeploy } from '../../../src/cli/service/setting-flags.ts'

const web = { name: 'web', type: 'web_service' } as const
const failed = (error: string) => hintFor({ error, source: { kind: 'git' } } as never, web)

test('an app at 127.0.0.1 is not told to change its port', () => {
  const error = 'the instance listens on 5000 at 127.0.0.1 only: it has to listen on 5000 at 0.0.0.0'
  for (const words of [error, `${error}, with berth update web --port 5000`]) {
    assert.match(failed(words), /^listen at 0\.0\.0\.0 instead of 127\.0\.0\.1/)
  }
})

test('a failing HEALTHCHECK of the image is not told to change a path', () => {
  const error = 'the health check did not pass in 20 s: the HEALTHCHECK of the image → unhealthy: sick'
  assert.doesNotMatch(failed(error), /--health-path/)
  assert.match(failed('the health check did not pass in 20 s: GET / → 500'), /--health-path/)
})

test('a setting of builds needs a deploy, not a restart', () => {
  assert.equal(needDeploy({ build_target: 'web' }), true)
  assert.equal(needDeploy({ memory_limit_mb: 256 }), false)
  assert.equal(actAtOnce({ instances: 2 }), true)
})

test('the error code exited_early leads to a hint at a static site', () => {
  const early = (kind: string, type: string = web.type) =>
    hintFor(
      { error: 'x', error_code: 'exited_early', source: { kind } } as never,
      { name: 'web', type } as typeof web,
    )
  const create = 'berth create web-site --type static_site --publish-dir FOLDER'
  assert.ok(early('archive').endsWith(`: ${create}, then: berth up web-site`))
  assert.ok(early('git').endsWith(`: ${create} --repo URL`))
  for (const other of [early('image'), early('reuse'), early('git', 'background_worker')]) {
    assert.doesNotMatch(other, /static_site/)
  }
})
