// The HTTP server is a binary that a third party built: the loaded file must have the recorded hash. A new
// version of the package needs new hashes here, and a check of where its binaries come
// from, as docs/development.md says.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

/** By platform and by what Node calls its modules: 115 is Node 20, 127 is Node 22, 137 is Node 24. */
const recorded: Record<string, string> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  linux_x64_127: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  linux_x64_137: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  linux_arm64_127: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  linux_arm64_137: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
}
/** The commit of upstream's sources, as the package itself names it. */
const sourceCommit = 'b8704be92ff2b16c6dd44cc2b334158ab73eef2a'
const loader = '9d5cd758ff1ecd8e632f291a10c8a161a8d8010a73b69f6b6a0ec39ef04510d2'

const folder = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
const sha256 = (name: string) =>
  createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')

for (const [platform, hash] of Object.entries(recorded)) {
  test(`the server's binary for ${platform} is the recorded one`, () => {
    assert.equal(sha256(`uws_${platform}.node`), hash)
  })
}

test('the loader file and the commit that it names are the recorded ones', () => {
  assert.equal(sha256('uws.js'), loader)
  assert.equal(readFileSync(join(folder, 'source_commit'), 'utf8').trim(), sourceCommit)
})

test('the binary for this machine is one of them', () => {
  const loaded = `${process.platform}_${process.arch}_${process.versions.modules}`
  assert.ok(loaded in recorded, loaded)
})
