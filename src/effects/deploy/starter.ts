// What to say to somebody whose project has no Dockerfile: where it was looked for, and one to start from.
import { readdir } from 'node:fs/promises'

interface Starter {
  kind: string
  /** The file that gives the kind away. */
  evidence: string
  dockerfile: string[]
}

const starters: Starter[] = [
  {
    kind: 'a Node.js project',
    evidence: 'package.json',
    dockerfile: [
      'FROM node:22-slim',
      'WORKDIR /app',
      'COPY package*.json ./',
      'RUN npm ci --omit=dev',
    ].concat('COPY . .', 'CMD ["npm", "start"]'),
  },
  {
    kind: 'a Python project',
    evidence: 'requirements.txt',
    dockerfile: ['FROM python:3.13-slim', 'WORKDIR /app', 'COPY requirements.txt ./'].concat(
      'RUN pip install --no-cache-dir -r requirements.txt',
      'COPY . .',
      'CMD ["python", "main.py"]',
    ),
  },
  {
    kind: 'a Go project',
    evidence: 'go.mod',
    dockerfile: ['FROM golang:1.24 AS build', 'WORKDIR /src', 'COPY . .', 'RUN go build -o /app .'].concat(
      'FROM debian:stable-slim',
      'COPY --from=build /app /app',
      'CMD ["/app"]',
    ),
  },
  {
    kind: 'a Rust project',
    evidence: 'Cargo.toml',
    dockerfile: [
      'FROM rust:1 AS build',
      'WORKDIR /src',
      'COPY . .',
      'RUN cargo install --path . --root /out',
    ].concat(
      'FROM debian:stable-slim',
      'COPY --from=build /out/bin/ /usr/local/bin/',
      'CMD ["your-program"]',
    ),
  },
  {
    kind: 'a Ruby project',
    evidence: 'Gemfile',
    dockerfile: ['FROM ruby:3.4-slim', 'WORKDIR /app', 'COPY Gemfile* ./', 'RUN bundle install'].concat(
      'COPY . .',
      'CMD ["bundle", "exec", "puma", "-p", "3000"]',
    ),
  },
  {
    kind: 'a folder of web pages',
    evidence: 'index.html',
    dockerfile: ['FROM nginx:alpine', 'COPY . /usr/share/nginx/html', 'EXPOSE 80'],
  },
]

const unknown: Starter = {
  kind: 'a project of a kind Berth does not know',
  evidence: '',
  dockerfile: ['FROM debian:stable-slim', 'WORKDIR /app', 'COPY . .', 'CMD ["./start.sh"]'],
}

/** Lines for the deploy's log. `shown` is where the Dockerfile was looked for. */
export async function starterFor(directory: string, shown: string): Promise<string[]> {
  const files = new Set(await readdir(directory))
  const starter = starters.find(({ evidence }) => files.has(evidence)) ?? unknown
  return [
    `looked for ${shown} and found none; this looks like ${starter.kind}`,
    'a Dockerfile to start from:',
    ...starter.dockerfile.map((line) => `    ${line}`),
    'commit it (or set dockerfile_path and root_dir) and deploy again',
  ]
}
