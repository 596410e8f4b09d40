import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildKitFeature, withDockerfileAdvice } from '../../../src/docker/dockerfile/dockerfile.ts'
import { Failure, messageOf } from '../../../src/errors.ts'

const needs: [string, string][] = [
  ['FROM a\nRUN --mount=type=cache,target=/x npm ci', 'RUN --mount'],
  ['FROM a\nrun --network=none --mount=type=secret,id=A cat', 'RUN --mount'],
  ['FROM a\nRUN \\\n  --mount=type=cache,target=/x npm ci', 'RUN --mount'],
  ['FROM a\nONBUILD RUN --security=insecure true', 'RUN --security'],
  ['FROM a\nCOPY --from=b --link /x /x', 'COPY --link'],
  ['FROM a\nADD --chmod=755 x /x', 'ADD --chmod'],
  ['FROM a\nRUN <<EOF\necho\nEOF', 'RUN <<EOF'],
  ['FROM a\nRUN cat <<-"EOF" > /x\necho\nEOF', 'RUN <<-"EOF'],
  ['FROM a\nCOPY <<EOF /x\necho\nEOF', 'COPY <<EOF'],
  ['FROM --platform=$BUILDPLATFORM a', 'FROM with BUILDPLATFORM'],
  ['\xEF\xBB\xBFFROM --platform=$BUILDPLATFORM a', 'FROM with BUILDPLATFORM'],
  ['FROM a\nARG TARGETARCH', 'ARG with TARGETARCH'],
  ['# syntax=example.com/frontend:1\nFROM a', '# syntax=example.com/frontend:1'],
  ['# escape=`\n# syntax = other/frontend\nFROM a', '# syntax=other/frontend'],
  ['# escape=`\nFROM a\nRUN `\n --mount=type=cache,target=/x true', 'RUN --mount'],
]

for (const [dockerfile, need] of needs) {
  test(`only BuildKit can build ${JSON.stringify(dockerfile)}`, () => {
    assert.equal(buildKitFeature(dockerfile), need)
  })
}

const plain = [
  '# syntax=docker/dockerfile:1\nFROM a\nRUN npm ci --mount',
  '# syntax=docker.io/docker/dockerfile:1.7\nFROM a AS b\nFROM c\nCOPY --from=b --chown=1:1 /x /x',
  'FROM a\nRUN echo $((1<<2)) && cat <<<word',
  'FROM --platform=linux/amd64 a\nARG TARGET\nRUN make TARGETARCH=x',
  'FROM a\n# RUN --mount=type=cache,target=/x true',
]

for (const dockerfile of plain) {
  test(`the classic builder can build ${JSON.stringify(dockerfile)}`, () => {
    assert.equal(buildKitFeature(dockerfile), null)
  })
}

const advice = /knows heredocs \(<<EOF\) only with '# syntax=docker\/dockerfile:1' as the first line/

test('only a failure caused by a heredoc gets the advice', () => {
  const failure = new Failure('build_failed', 'dockerfile parse error line 3: unknown instruction: APK')
  const advised = (dockerfile: string, error: unknown = failure) =>
    advice.test(messageOf(withDockerfileAdvice(error, dockerfile, null)))

  assert.equal(advised('FROM a\nRUN <<EOF\napk add b\nEOF'), true)
  assert.equal(advised("FROM a\n  copy <<-'END' /b\nc\nEND"), true)
  assert.equal(advised('# syntax=docker/dockerfile:1\nFROM a\nRUN <<EOF\nx\nEOF'), false)
  assert.equal(advised('FROM a\nRUNN x'), false)
  assert.equal(advised('FROM a\nRUN <<EOF', new Failure('build_failed', 'RUN x exited with code 1')), false)
  assert.equal(advised('FROM a\nRUN <<EOF', new Failure('docker_error', 'unknown instruction')), false)
})

test('the stages of a Dockerfile are listed in any spelling, at most 20 of them', () => {
  // BuildKit since 0.11 puts the stage in quotes.
  const failure = new Failure('build_failed', 'target stage "x" could not be found')
  const stageList = (dockerfile: string) =>
    messageOf(withDockerfileAdvice(failure, dockerfile, 'x')).split(': ')[1]

  const dockerfile =
    'from --platform=linux/amd64 a as One\nFROM a\nFROM b \\\n# comment\n  AS two\n# FROM a AS no\n'
  assert.equal(stageList(dockerfile), 'its stages are One, two')
  const many = Array.from({ length: 50 }, (_, index) => `FROM a AS s${index}`).join('\n')
  assert.match(stageList(many)!, /, s19$/)
})
