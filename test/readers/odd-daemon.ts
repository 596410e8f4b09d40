// A daemon with a reader: sends the process id of the reader, and waits to be killed.
import { fileURLToPath } from 'node:url'
import { Readers } from '../../src/readers/readers.ts'

const program = fileURLToPath(new URL('odd-reader.ts', import.meta.url))
const readers = new Readers({ program, maxReaders: 1, maxTaskSeconds: 60, maxHeapMib: 64 })
process.send!(await readers.run('pid', null, { owner: 'ada' }))
