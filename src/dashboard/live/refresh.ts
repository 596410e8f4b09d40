// Reads something again after it has changed: at most once in 150 ms, one read at a time, and only while the
// page is visible. A change during a read causes one more.
import { untilVisible } from './stream.ts'

const atMostEveryMs = 150
const states = new Map<string, 'waiting' | 'reading' | 'changed'>()

export async function refresh(name: string, read: () => Promise<unknown>): Promise<void> {
  if (states.has(name)) {
    // An answer that was sent before the change must not be the last one.
    if (states.get(name) === 'reading') states.set(name, 'changed')
    return
  }
  states.set(name, 'waiting')
  do {
    await new Promise((resolve) => setTimeout(resolve, atMostEveryMs))
    if (document.hidden) await untilVisible()
    states.set(name, 'reading')
    await read()
  } while (states.get(name) === 'changed')
  states.delete(name)
}
