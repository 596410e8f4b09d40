// The lines of one log, in the order of their numbers. They live outside React, which would copy them.
import { openStream, type StreamEvent } from '../live/stream.ts'

export interface Line {
  number: number
  stream: 'stdout' | 'stderr' | 'system'
  text: string
}

export interface LogLines {
  count(): number
  line(index: number): Line | undefined
  isEnded(): boolean
  /** Called at most once a frame after lines have arrived. Returns a function that ends it. */
  subscribe(listener: () => void): () => void
  close(): void
}

export function openLog(path: string): LogLines {
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  let isEnded = false
  let frame = 0

  function announce(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      for (const listener of listeners) listener()
    })
  }

  function take({ name, id, data }: StreamEvent): void {
    if (name === 'end') isEnded = true
    if (name !== 'log') return
    const { stream, line } = JSON.parse(data)
    lines.push({ number: Number(id), stream, text: shownText(line) })
  }

  const close = openStream({
    path: `${path}?follow=true`,
    lastEvent: 'end',
    onEvent(event) {
      take(event)
      announce()
    },
  })
  return {
    count: () => lines.length,
    line: (index) => lines[index],
    isEnded: () => isEnded,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      cancelAnimationFrame(frame)
      close()
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
const escapeCodes = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g

/** What a carriage return has not rewritten, without the codes for colors. */
function shownText(text: string): string {
  const plain = text.replace(escapeCodes, '').replace(/\r$/, '')
  return plain.slice(plain.lastIndexOf('\r') + 1).replace(/(?!\t)\p{Cc}/gu, '\ufffd')
}
