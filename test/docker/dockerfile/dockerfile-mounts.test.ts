import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCacheIds, withoutCacheIds } from '../../../src/docker/dockerfile/dockerfile-mounts.ts'

const edits: Record<string, [before: string, after: string]> = {
  'the target is the id by default': [
    'RUN --mount=type=cache,target=/root/.npm npm ci',
    'RUN --mount=type=cache,target=/root/.npm,id=p-/root/.npm npm ci',
  ],
  'an id is kept behind the prefix, and the last one counts': [
    'RUN --mount=type=cache,id=npm,target=/root/.npm npm ci',
    'RUN --mount=type=cache,id=npm,target=/root/.npm,id=p-npm npm ci',
  ],
  'keys and the instruction may be in capitals, and dst is a target': [
    'run --mount=TYPE=cache,DST=/x true',
    'run --mount=TYPE=cache,DST=/x,id=p-/x true',
  ],
  'variables stay variables': [
    `ARG X=a\nRUN --mount=type=cache,target=/root/\${X} true`,
    `ARG X=a\nRUN --mount=type=cache,target=/root/\${X},id=p-/root/\${X} true`,
  ],
  'several mounts on several lines with comments between them': [
    'RUN --mount=type=cache,target=/a \\\n# a comment\n' +
      '  --mount=type=secret,id=K \\\n  --mount=type=cache,target=/b \\\n  true',
    'RUN --mount=type=cache,target=/a,id=p-/a \\\n# a comment\n' +
      '  --mount=type=secret,id=K \\\n  --mount=type=cache,target=/b,id=p-/b \\\n  true',
  ],
  'a value that continues on the next line': [
    'RUN --mount=type=cache,\\\ntarget=/a true',
    'RUN --mount=type=cache,\\\ntarget=/a,id=p-/a true',
  ],
  'another escape character': [
    '# escape=`\nFROM a\nRUN --mount=type=cache,target=/a `\n  --mount=type=cache,target=/b true',
    '# escape=`\nFROM a\nRUN --mount=type=cache,target=/a,id=p-/a `\n' +
      '  --mount=type=cache,target=/b,id=p-/b true',
  ],
  'quotes hide neither the type nor the id, and end where they end': [
    'RUN --mount=ty"pe=cac"he,"target=/a b" true',
    'RUN --mount=ty"pe=cac"he,"target=/a b",id=p-/a_b true',
  ],
  'a trigger': [
    'ONBUILD RUN --mount=type=cache,target=/a true',
    'ONBUILD RUN --mount=type=cache,target=/a,id=p-/a true',
  ],
  'what is not the flag of a RUN stays': [
    'COPY --from=a /x /y\nRUN echo --mount=type=cache,target=/a\nRUN --mount=type=bind,target=/b true',
    'COPY --from=a /x /y\nRUN echo --mount=type=cache,target=/a\nRUN --mount=type=bind,target=/b true',
  ],
  'lines of a heredoc stay': [
    'RUN --mount=type=cache,target=/a <<EOF\nRUN --mount=type=cache,target=/b\nEOF\n',
    'RUN --mount=type=cache,target=/a,id=p-/a <<EOF\nRUN --mount=type=cache,target=/b\nEOF\n',
  ],
}

for (const [name, [before, after]] of Object.entries(edits)) {
  test(`ids of cache mounts: ${name}`, () => {
    assert.equal(withCacheIds(before, 'p-'), after)
    assert.equal(withoutCacheIds(after, 'p-'), before)
    assert.equal(after.split('\n').length, before.split('\n').length)
  })
}

test('Windows line ends and bytes that are not text are preserved', () => {
  const before = 'FROM a\r\nLABEL a=\xff\xa0\r\nRUN --mount=type=cache,target=/a \\\r\n true\r\n'

  assert.equal(withCacheIds(before, 'p-'), before.replace('=/a', '=/a,id=p-/a'))
})
