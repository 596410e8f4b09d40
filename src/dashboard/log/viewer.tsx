// Shows a log of any length: only the rows that can be seen are in the document.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'react'
import { type LogLines, openLog } from './lines.ts'
import styles from './viewer.module.css'

const rowHeight = 20
const extraRows = 20

export function LogViewer({ path }: { path: string }) {
  const log = useLog(path)
  const box = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const [place, setPlace] = useState({ top: 0, height: 600 })
  const [isFollowing, setFollowing] = useState(true)
  const count = log?.count() ?? 0

  useLayoutEffect(() => {
    const element = box.current!
    const measure = () => setPlace({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (isFollowing) box.current!.scrollTop = box.current!.scrollHeight
  }, [isFollowing, count])

  const first = Math.max(0, Math.floor(place.top / rowHeight) - extraRows)
  const last = Math.min(count, Math.ceil((place.top + place.height) / rowHeight) + extraRows)
  return (
    <section className={styles.log} aria-label="Log">
      <header className={styles.head}>
        <h2>Log</h2>
        <span className="quiet">{count.toLocaleString()} lines</span>
        {!isFollowing && (
          <button type="button" onClick={() => setFollowing(true)}>
            Follow
          </button>
        )}
      </header>
      <div
        ref={box}
        className={styles.lines}
        role="log"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) => {
          // New lines only move it down: up is the reader.
          if (scrollTop < lastTop.current - 1) setFollowing(false)
          lastTop.current = scrollTop
          setPlace({ top: scrollTop, height: clientHeight })
        }}
      >
        <div className={styles.space} style={{ height: count * rowHeight }}>
          <div className={styles.window} style={{ top: first * rowHeight }}>
            {log &&
              Array.from({ length: Math.max(0, last - first) }, (_, at) => (
                <Row key={first + at} log={log} index={first + at} />
              ))}
          </div>
        </div>
        {count === 0 && (
          <p className="quiet">{log?.isEnded() ? 'The log is empty.' : 'Waiting for the first line…'}</p>
        )}
      </div>
    </section>
  )
}

function Row({ log, index }: { log: LogLines; index: number }) {
  const line = log.line(index)
  if (!line) return null
  return (
    <div className={styles.row} data-stream={line.stream} id={`L${line.number}`}>
      <span className={styles.number} aria-hidden="true">
        {line.number}
      </span>
      <span className={styles.text}>{line.text}</span>
    </div>
  )
}

function useLog(path: string): LogLines | null {
  const [log, setLog] = useState<LogLines | null>(null)
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const opened = openLog(path)
    setLog(opened)
    const unsubscribe = opened.subscribe(rerender)
    return () => {
      unsubscribe()
      opened.close()
    }
  }, [path])
  return log
}
