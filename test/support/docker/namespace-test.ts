// A test file that runs in a namespace with an engine of its own, which it may kill.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { runInside, whyNoNamespace } from '../system/namespace.ts'
import { ensureEngine } from './engine.ts'
import { busyboxImage } from './images.ts'
import { saveImage } from './namespace-engine.ts'

/** Outside: runs the file again inside, where PREPARED is a folder with the image in `busybox.tar`. */
export async function testInside(scope: Scope, url: string, name: string): Promise<void> {
  const impossible = await whyNoNamespace()
  test(name, { skip: impossible ?? false }, async () => {
    // Removed here, where nothing of the engine is mounted.
    const directory = temporaryDirectory(scope)
    await saveImage(await ensureEngine(), await busyboxImage(), join(directory, 'busybox.tar'))
    const { code, lines } = await runInside(url, { PREPARED: directory })
    assert.equal(code, 0, lines.join('\n'))
  })
}
