// How many characters fit into a row of the log: the width of one is measured once.
import { type RefObject, useLayoutEffect, useState } from 'react'

const sample = '0'.repeat(100)
const leastColumns = 16

/** `takenColumns` are those of the line numbers and times. */
export function useColumns(box: RefObject<HTMLDivElement | null>, takenColumns: number): number {
  const [columns, setColumns] = useState(80)
  useLayoutEffect(() => {
    const element = box.current!
    const context = document.createElement('canvas').getContext('2d')!
    context.font = getComputedStyle(element).font
    const letterPx = context.measureText(sample).width / sample.length
    const measure = () => setColumns(Math.floor(element.clientWidth / letterPx))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return Math.max(leastColumns, columns - takenColumns)
}
