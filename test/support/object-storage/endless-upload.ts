// Uploads without an end, to be killed. Writes a line when some parts are there.
import { openBucket } from '../../../src/object-storage/bucket.ts'
import { mebibytes, never } from './contents.ts'

async function* endless() {
  yield* mebibytes(80)
  process.stdout.write('parts\n')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    yield Buffer.alloc(1)
  }
}

await openBucket(JSON.parse(process.argv[2]!)).put('db/one.dump', endless(), never)
