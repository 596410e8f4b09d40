// What the server itself says in a log: its newest line, to be shown elsewhere.
import { useEffect, useEffectEvent, useRef } from 'react'
import { toSentence } from '../shell/problem.tsx'
import { plainText } from './ansi.ts'
import type { Line } from './lines.ts'
import type { Log } from './log.ts'

export interface News {
  at: number
  /** A sentence, or a step of the build as it is written. */
  text: string
}

export function useNews(log: Log, onNews: ((news: News) => void) | undefined): void {
  const seen = useRef(0)
  const report = useEffectEvent(() => {
    const news = log.lines.all().findLast((line) => line.number <= seen.current || isNews(line))
    if (news && news.number > seen.current) {
      onNews?.({ at: news.at, text: news.step?.name ?? toSentence(plainText(news.text)) })
    }
    seen.current = Math.max(seen.current, log.lines.last)
  })
  useEffect(() => log.subscribe(report), [log])
}

/** Of a step of a build, its beginning. */
function isNews({ stream, step }: Line): boolean {
  return stream === 'system' && (step === undefined || step.state === 'started')
}
