// Throughput and memory of the largest upload, compared with a node:http server that writes to the same disk.
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finishedDeploy } from '../support/daemon/service.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd, whenHealthy } from './berthd.ts'
import type { Figure } from './figure.ts'
import { median } from './percentiles.ts'
import { peakMegabytes } from './process-usage.ts'
import { startProgram } from './program.ts'

interface Round {
  berth: number
  pipeline: number
}

interface Place {
  url: string
  headers: Record<string, string>
}

const mebibyte = 1024 * 1024
const piece = Buffer.alloc(256 * 1024)
/** The gzip magic bytes, which the server requires. The rest is invalid, so the deploy fails at once. */
const gzipHead = Buffer.from([0x1f, 0x8b])

export async function measureUpload(bench: Bench): Promise<Figure[]> {
  const sizeBytes = bench.size(512, 16) * mebibyte
  const berthd = await startBerthd(bench, temporaryDirectory(bench))
  await whenHealthy(berthd)
  const { api } = berthd
  await api.post('/services', { name: 'bench', type: 'web_service' })
  const pipeline = await startProgram<{ port: number }>(bench, 'upload-pipeline', [temporaryDirectory(bench)])
  const ours = { url: `${berthd.url}/api/v1/services/bench/deploys/upload`, headers: berthd.headers }
  const theirs = { url: `http://127.0.0.1:${pipeline.report.port}/`, headers: {} }

  const rounds: Round[] = []
  for (let round = 0; round <= bench.size(7, 1); round++) {
    bench.log(round === 0 ? 'warming up' : `round ${round}`)
    const { answer, mebibytesPerSecond } = await upload(ours, sizeBytes)
    await finishedDeploy(api, JSON.parse(answer).id)
    rounds.push({ berth: mebibytesPerSecond, pipeline: (await upload(theirs, sizeBytes)).mebibytesPerSecond })
  }
  const middle = (pick: (round: Round) => number) => median(rounds.slice(1).map(pick))
  const size = `${sizeBytes / mebibyte} MiB uploaded`
  return [
    {
      name: `${size}, relative to a node:http pipeline`,
      value: middle(({ berth, pipeline }) => berth / pipeline),
      unit: '',
      goal: { atLeast: 1 },
    },
    { name: `${size}, berth`, value: middle(({ berth }) => berth), unit: 'MiB/s' },
    { name: `${size}, node:http pipeline`, value: middle(({ pipeline }) => pipeline), unit: 'MiB/s' },
    {
      name: 'peak memory, berth',
      value: peakMegabytes(berthd.pid),
      unit: 'MB',
      goal: { atMost: 150 },
    },
    { name: 'peak memory, node:http pipeline', value: peakMegabytes(pipeline.pid), unit: 'MB' },
  ]
}

/** Uploads that much and waits for the response, which comes when everything is on disk. */
async function upload(
  place: Place,
  sizeBytes: number,
): Promise<{ answer: string; mebibytesPerSecond: number }> {
  const startedAt = performance.now()
  const answer = await send(place, sizeBytes)
  return { answer, mebibytesPerSecond: sizeBytes / mebibyte / ((performance.now() - startedAt) / 1000) }
}

function send({ url, headers }: Place, sizeBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, 'content-type': 'application/gzip', 'content-length': sizeBytes }
    const requested = request(url, { method: 'POST', headers: all }, (response) => {
      const refused = (words: string) => reject(new Error(`${response.statusCode}: ${words}`))
      text(response).then(response.statusCode === 202 ? resolve : refused, reject)
    })
    requested.on('error', reject)
    Readable.from(piecesOf(sizeBytes)).pipe(requested)
  })
}

function* piecesOf(sizeBytes: number): Generator<Buffer> {
  yield gzipHead
  for (let left = sizeBytes - gzipHead.length; left > 0; left -= piece.length) yield piece.subarray(0, left)
}
