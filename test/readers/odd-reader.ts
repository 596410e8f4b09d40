// A reader whose tasks show what readers must bear.
import { appendFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { answerOrders } from '../../src/readers/answer-orders.ts'

answerOrders({
  pid: async () => () => process.pid,
  note:
    async () =>
    async ({ file, line }: { file: string; line: string }) => {
      await delay(50)
      await appendFile(file, `${line}\n`)
    },
  spin: async () => () => {
    for (;;);
  },
  fill: async () => () => {
    const kept: string[][] = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => String(index * Math.random())))
  },
  env: async () => () => process.env,
})
