// Runs test files one after another in one process, so that the product is loaded once and not once a file.
// The parent sends the next file when one is finished, and null after the last.
import { after, describe } from 'node:test'
import { pathToFileURL } from 'node:url'

process.on('message', async ({ file }: { file: string | null }) => {
  if (file === null) return process.channel!.unref()
  await runFile(file)
  process.send!({ event: 'finished', residentBytes: process.memoryUsage.rss() })
})
process.send!({ event: 'ready', residentBytes: 0 })

/** What the file registers belongs to its suite, also its hooks. */
function runFile(file: string): Promise<void> {
  return new Promise((resolve) => {
    describe(file, async () => {
      try {
        await import(pathToFileURL(file).href)
      } finally {
        after(() => resolve())
      }
    })
  })
}
