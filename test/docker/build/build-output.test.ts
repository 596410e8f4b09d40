// Builds with a lot of output. BuildKit truncates fast or long output of a step and says so; everything else,
// and all output of the classic builder, arrives.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { BuildRequest } from '../../../src/docker/build/build.ts'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'
import { long } from '../../support/system/drill-size.ts'

const lineCount = 200_000
const mebibyte = 1024 * 1024

for (const [name, driver] of Object.entries(drivers)) {
  const testBuild = name === 'buildkit' ? test : long
  describe(`builds by ${name}`, () => {
    testBuild(
      'a step that prints 200,000 lines is logged in order without blocking anything else',
      async (t: TestContext) => {
        const site = await openBuildSite(t, driver)
        const Dockerfile = `FROM ${site.images.busybox}
        RUN i=0; while [ $i -lt ${lineCount} ]; do i=$((i+1)); echo "out $i"; done`
        const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
        const pauses = watchPauses()

        await site.builder.build({ ...request, noCache: true })

        const { longestMs, totalMs } = pauses.stop()
        assert.ok(longestMs < totalMs / 4, `nothing else went on for ${longestMs} of ${totalMs} ms`)
        const output = lines.filter((line) => line.startsWith('stdout ')).map((line) => line.slice(7))
        const cutAt = output.findIndex((line) => line.startsWith('[output clipped, log limit'))
        assert.equal(cutAt >= 0, name === 'buildkit' && output.length < lineCount)
        // The line that is cut is not whole.
        const reported = cutAt < 0 ? output : output.slice(0, cutAt - 1)
        assert.ok(reported.length > 2000)
        assert.equal(
          reported.find((line, at) => line !== `out ${at + 1}`),
          undefined,
        )
      },
    )

    testBuild('an endless line is logged in parts and does not fill the memory', async (t: TestContext) => {
      const site = await openBuildSite(t, driver)
      const Dockerfile = `FROM ${site.images.busybox}\nRUN head -c ${4 * mebibyte} /dev/zero | tr '\\0' x`
      const { request } = prepareBuild(t, site.owner, { Dockerfile })
      const lengths: number[] = []
      const onLine: BuildRequest['onLine'] = (stream, line) => {
        if (stream === 'stdout') lengths.push(line.length)
      }

      await site.builder.build({ ...request, noCache: true, onLine })

      const total = lengths.reduce((sum, length) => sum + length, 0)
      assert.ok(total >= (name === 'buildkit' ? mebibyte / 8 : 4 * mebibyte), `${total}`)
      assert.ok(Math.max(...lengths) < mebibyte / 4, `${Math.max(...lengths)}`)
    })
  })
}

/** The longest time during which no timer had its turn. */
function watchPauses() {
  const beganAt = performance.now()
  let [lastAt, longestMs] = [beganAt, 0]
  const look = () => {
    longestMs = Math.max(longestMs, performance.now() - lastAt)
    lastAt = performance.now()
  }
  const timer = setInterval(look, 5)
  return {
    stop() {
      look()
      clearInterval(timer)
      return { longestMs, totalMs: performance.now() - beganAt }
    },
  }
}
