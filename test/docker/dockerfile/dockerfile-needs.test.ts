import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildKitFeature } from '../../../src/docker/dockerfile/dockerfile.ts'

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
