// Reading a Dockerfile of the largest permitted size blocks the event loop only briefly, whatever it holds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxDockerfileBytes } from '../../../src/docker/dockerfile/build-context.ts'
import { buildKitFeature, withDockerfileAdvice } from '../../../src/docker/dockerfile/dockerfile.ts'
import { Failure } from '../../../src/errors.ts'

const repeated = [
  'a',
  '\\',
  '\\\n',
  '\\\n\n',
  '\\\n# x\n',
  'RUN a\n',
  'RUN a \\\n',
  'RUN --mount',
  'RUN --x=y ',
  'RUN <',
  '<<1',
  '1',
  'ONBUILD ',
  'FROM a AS b\n',
  'FROM a AS ',
  ' AS',
  'ARG TARGET\n',
  'TARGETARC ',
  '#',
  '# a=b\n',
  '#\n',
  '# escape=\\\n',
  '# syntax ',
  '\n',
  '\r',
  ' ',
  '\t\n',
  '[',
  '["',
  '\0',
  '\x1b;#',
  '\xff',
]
const beginnings = [
  '',
  'FROM scratch\nRUN a ',
  'RUN \\\n',
  '# syntax=a\n',
  '#',
  '# syntax',
  'FROM a AS ',
  'ADD --',
]

const failures = [
  new Failure('build_failed', 'unknown instruction: X'),
  new Failure('build_failed', 'target stage x could not be found'),
]

for (const text of repeated) {
  test(`${JSON.stringify(text)} over and over is read in under a second`, () => {
    for (const beginning of beginnings) {
      const dockerfile = (beginning + text.repeat(maxDockerfileBytes / text.length)).slice(
        0,
        maxDockerfileBytes,
      )
      const { user } = process.cpuUsage()

      buildKitFeature(dockerfile)
      for (const failure of failures) withDockerfileAdvice(failure, dockerfile, 'x')

      const seconds = (process.cpuUsage().user - user) / 1e6
      assert.ok(seconds < 1, `${seconds} s after ${JSON.stringify(beginning)}`)
    }
  })
}
