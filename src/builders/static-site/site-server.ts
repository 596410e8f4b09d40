// What turns the official nginx image into the server of a static site. The site and the server have
// different owners, so that `if_not_owner` follows links within the site and refuses links that leave it.

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import type { Engine } from '../../docker/engine/client.ts'
import { findNewestImage, obtainOfficialImage } from '../../docker/images/official-image.ts'
import { sitePort } from '../../domain/service-types.ts'

/** Each build resolves the tag, so a site gets the fixes of this nginx with its next deploy. */
const officialImage = 'nginx:1.28-alpine-slim'
export const serverUser = 65_534
export const siteOwner = 65_533
export const entrypoint = '/usr/bin/serve-site'

/** Throws `static_server_missing`, `docker_unavailable`, and the signal's reason. */
export function obtainNginx(
  engine: Engine,
  onOther: (facts: { image: string; reason: string }) => void,
  signal: AbortSignal,
): Promise<string> {
  const wanted = {
    reference: officialImage,
    // Berth used to build `berth/static-server`.
    findOther: () => findNewestImage(engine, ['nginx', 'localhost/berth/static-server']),
    onOther,
    missingCode: 'static_server_missing',
    option: '--static-image',
  }
  return obtainOfficialImage(engine, wanted, signal)
}

export async function writeServerFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [path, content] of Object.entries(serverFiles)) {
    const file = join(folder, basename(path))
    await writeFile(file, content)
    // The server runs as another user, whatever the umask is.
    await chmod(file, 0o644)
  }
}

/** The lines of a Dockerfile that make nginx the server of a site. */
export function serverLines(folder: string): string[] {
  const copies = Object.keys(serverFiles).map(
    (path) => `COPY ${JSON.stringify([posix.join(folder, posix.basename(path)), path])}`,
  )
  return [
    ...copies,
    `USER ${serverUser}:${serverUser}`,
    `EXPOSE ${sitePort}`,
    // On SIGTERM, nginx would abort running responses.
    'STOPSIGNAL SIGQUIT',
    `ENTRYPOINT ["sh","${entrypoint}"]`,
    'CMD []',
  ]
}

// nginx writes only to a tmpfs, so everything else can be mounted read-only.
const script = `#!/bin/sh
set -eu
port=\${PORT:-${sitePort}}
case $port in *[!0-9]*) echo "PORT is '$port', which is not a number" >&2; exit 64 ;; esac
case \${BERTH_SPA:-0} in 0 | false) kind=pages ;; *) kind=app ;; esac
for run in /dev/shm /tmp; do if [ -w "$run" ]; then break; fi; done
cat > "$run/nginx.conf" <<END
daemon off;
pid $run/nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  client_body_temp_path $run/body;
  proxy_temp_path $run/proxy;
  fastcgi_temp_path $run/fastcgi;
  uwsgi_temp_path $run/uwsgi;
  scgi_temp_path $run/scgi;
  include /etc/nginx/http.conf;
  server {
    listen $port;
    include /etc/nginx/server.conf;
    include /etc/nginx/$kind.conf;
  }
}
END
exec nginx -e stderr -c "$run/nginx.conf"
`

const types: Record<string, string> = {
  'application/atom+xml': 'atom',
  'application/epub+zip': 'epub',
  'application/gzip': 'gz',
  'application/json': 'json map',
  'application/ld+json': 'jsonld',
  'application/manifest+json': 'webmanifest',
  'application/pdf': 'pdf',
  'application/rss+xml': 'rss',
  'application/vnd.ms-fontobject': 'eot',
  'application/wasm': 'wasm',
  'application/xhtml+xml': 'xhtml',
  'application/zip': 'zip',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'oga ogg opus',
  'audio/wav': 'wav',
  'font/otf': 'otf',
  'font/ttf': 'ttf',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'image/apng': 'apng',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/gif': 'gif',
  'image/jpeg': 'jpg jpeg',
  'image/jxl': 'jxl',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif tiff',
  'image/webp': 'webp',
  'image/x-icon': 'ico',
  'model/gltf+json': 'gltf',
  'model/gltf-binary': 'glb',
  'text/calendar': 'ics',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/html': 'html htm',
  'text/javascript': 'js mjs',
  'text/markdown': 'md markdown',
  'text/plain': 'txt text log',
  'text/vtt': 'vtt',
  'text/xml': 'xml xsl',
  'video/mp2t': 'ts',
  'video/mp4': 'mp4 m4v',
  'video/ogg': 'ogv',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
}

/** nginx adds text/html on its own, and warns if it is listed. */
const texts = Object.keys(types).filter((type) => type.startsWith('text/') && type !== 'text/html')
const packable = Object.keys(types).filter((type) => /json|xml|wasm|ttf|otf|fontobject|bmp|icon/.test(type))
const compressed = [...new Set([...texts, ...packable])].join(' ')
const extensions = Object.entries(types).flatMap(([type, names]) => (type === 'text/html' ? [] : [names]))

// Only names with a content hash are cached without a limit. Everything else is revalidated, which costs a
// 304 each time and shows a new version immediately.
const http = `
types {
${Object.entries(types)
  .map(([type, names]) => `  ${type} ${names};`)
  .join('\n')}
}
default_type application/octet-stream;
charset utf-8;
charset_types ${texts.join(' ')};
server_tokens off;
absolute_redirect off;
access_log off;
log_not_found off;
sendfile on;
tcp_nopush on;
gzip on;
gzip_vary on;
gzip_proxied any;
gzip_comp_level 5;
gzip_min_length 512;
gzip_types ${compressed};
gzip_static on;
map "$status $uri" $caching {
  default no-cache;
  "~^\\d+ .*\\.html?$" no-cache;
  "~^(200|206|304) .*[.-](?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{8,64}(\\.\\w+){1,3}$" $forever;
  "~^(200|206|304) /assets/.*-(?=.{0,7}[0-9])(?=.{0,7}[A-Z])(?=.{0,7}[a-z])[\\w-]{8}(\\.\\w+){1,2}$" $forever;
  "~^(200|206|304) /(_next/static|_app/immutable|_astro)/" $forever;
}
`

const server = `
set $forever "public, max-age=31536000, immutable";
root /site;
index index.html;
disable_symlinks if_not_owner from=$document_root;
add_header Cache-Control $caching always;
error_page 404 /404.html;
location = /404.html { try_files $uri @missing; }
location @missing {
  types {}
  default_type text/html;
  return 404 "<!doctype html><title>Not found</title><p>There is no such page.\\n";
}
location ~ /\\.(?!well-known(/|$)) { return 404; }
`

// nginx responds with 403 to a folder without an index.
const pages = `
error_page 403 =404 /404.html;
location / { try_files $uri $uri.html $uri/ =404; }
`

// Every path serves the app, except missing files such as scripts and pictures.
const app = `
error_page 403 =200 /index.html;
location / { try_files $uri $uri.html $uri/ /index.html; }
location ~* \\.(${extensions.join(' ').replaceAll(' ', '|')})$ { try_files $uri =404; }
`

/** By their path in the image. */
export const serverFiles: Record<string, string> = {
  [entrypoint]: script,
  '/etc/nginx/http.conf': http,
  '/etc/nginx/server.conf': server,
  '/etc/nginx/pages.conf': pages,
  '/etc/nginx/app.conf': app,
}
