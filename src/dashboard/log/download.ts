// The log as a text file: as the server has it, or for a service what is in memory.
import { plainText } from './ansi.ts'
import type { Log } from './log.ts'

export async function downloadLog(path: string, log: Log): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(log.source.isWhole ? await storedText(path) : textInMemory(log))
  link.download = `${path.split('/')[2]}.log`
  link.click()
  URL.revokeObjectURL(link.href)
}

async function storedText(path: string): Promise<Blob> {
  const response = await fetch(`/api/v1${path}/logs`, { headers: { accept: 'text/plain' } })
  return response.blob()
}

function textInMemory({ lines }: Log): Blob {
  const texts = lines.all().map(({ at, text }) => `${new Date(at).toISOString()} ${plainText(text)}\n`)
  return new Blob(texts, { type: 'text/plain' })
}
