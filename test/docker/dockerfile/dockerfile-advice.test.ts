// What is added to the failure by which an engine refuses a Dockerfile: old engines know no heredocs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDockerfileAdvice } from '../../../src/docker/dockerfile/dockerfile.ts'
import { Failure, messageOf } from '../../../src/errors.ts'

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
