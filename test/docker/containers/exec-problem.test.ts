// Why a command could not be run, found in images that break it in one way each.
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { InstanceSpec } from '../../../src/docker/containers/spec.ts'
import { describeExit } from '../../../src/effects/instances/exit.ts'
import { drivers, prepareBuild } from '../../support/docker/build-site.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'
import { sized } from '../../support/system/drill-size.ts'

interface Case {
  name: string
  /** Of the Dockerfile, after FROM and `COPY files/ /`. */
  lines: string[]
  command?: string
  env?: { key: string; value: string }[]
  init?: boolean
  says: RegExp
}

const files = {
  'windows.sh': '#!/bin/sh\r\necho hello\r\n',
  'bash.sh': '#!/bin/bash\necho hello\n',
  'env-bash.sh': '#!/usr/bin/env bash\necho hello\n',
  'foreign-interpreter.sh': '#!/foreign\necho hello\n',
  'calls-missing.sh': '#!/bin/sh\nnonesuch\n',
  foreign: elfFor(process.arch === 'arm64' ? 62 : 183),
}
const x = 'RUN chmod +x /*.sh /foreign /dynamic'
const link = (path: string) => `RUN mkdir -p ${dirname(path)} && ln -sf /bin/busybox ${path}`

const cases: Case[] = [
  {
    name: 'a script with Windows line endings',
    lines: [x, 'ENTRYPOINT ["/windows.sh"]'],
    says: /\/windows\.sh has Windows line endings, so its interpreter '\/bin\/sh\\r' does not exist/,
  },
  {
    name: 'a start command that names a script with Windows line endings',
    lines: [x],
    command: 'exec ./windows.sh --port 80',
    says: /^could not run 'exec \.\/windows\.sh --port 80': \/windows\.sh has Windows line endings/,
  },
  {
    name: 'a missing interpreter',
    lines: [x, 'CMD ["/bash.sh"]'],
    says: /: \/bin\/bash, the interpreter of \/bash\.sh, is not in the image \(/,
  },
  {
    name: 'a missing interpreter that env looks for',
    lines: [link('/usr/bin/env'), x, 'CMD ["/env-bash.sh"]'],
    says: /: bash, the interpreter of \/env-bash\.sh, is not in the image \(/,
  },
  {
    name: 'a script without the execute permission, behind a link',
    lines: ['RUN chmod 644 /bash.sh && ln -s bash.sh /start', 'CMD ["/start"]'],
    says: /: \/start has no execute permission: RUN chmod \+x \/start/,
  },
  { name: 'a directory', lines: ['CMD ["/bin"]'], says: /: \/bin is a directory/ },
  { name: 'a missing file', lines: ['CMD ["./gone"]'], says: /: there is no '\.\/gone' in the image/ },
  {
    name: 'a missing program',
    lines: ['CMD ["gone"]'],
    says: /: there is no 'gone' in PATH \(\//,
  },
  {
    name: 'a program that is not in the PATH of the service',
    lines: ['CMD ["sleep", "1"]'],
    env: [{ key: 'PATH', value: '/nowhere' }],
    says: /'sleep' in PATH \(\/nowhere\): the env sets PATH, which replaces that of the image \(exit/,
  },
  {
    name: 'a shell that is not in the PATH of the service',
    lines: [],
    command: 'sleep 1',
    env: [{ key: 'PATH', value: '/opt/bin' }],
    says: /: there is no 'sh' in PATH \(\/opt\/bin\): the env sets PATH, which replaces that of the image/,
  },
  {
    name: 'a later command of a script that begins with builtins',
    lines: [],
    command: 'hash -r; kill -0 1; exec missingthing',
    says: /^exited with code 127: command not found$/,
  },
  {
    name: 'a script that sets PATH for its program',
    lines: [x, 'RUN mkdir -p /opt/bin && mv /calls-missing.sh /opt/bin/app'],
    command: 'PATH=/opt/bin:/bin app',
    says: /^exited with code 127: command not found$/,
  },
  {
    name: 'only files of its name that cannot be run',
    lines: [x, 'RUN mkdir -p /b /c/app && cp /bash.sh /b/app && chmod 644 /b/app', 'ENV PATH=/a:/b:/c:/bin'],
    command: 'exec app',
    says: /: \/b\/app has no execute permission/,
  },
  {
    name: 'a program for another processor',
    lines: [x, 'CMD ["/foreign"]'],
    says: /: \/foreign is a program for (arm64|amd64), and this host is (x86_64|aarch64)/,
  },
  {
    name: 'a program for another processor that a shell read in its place',
    lines: [x, "RUN printf '\\n)\\n' >> /foreign", 'CMD ["/foreign"]'],
    says: /: \/foreign is a program for (arm64|amd64), and this host is (x86_64|aarch64) \(exit code 2\)$/,
  },
  {
    name: 'a program for another processor without an init',
    lines: [x, 'CMD ["/foreign"]'],
    init: false,
    says: /: \/foreign is a program for /,
  },
  {
    name: 'an interpreter for another processor',
    lines: [x, 'CMD ["/foreign-interpreter.sh"]'],
    says: /: \/foreign, the interpreter of \/foreign-interpreter\.sh, is a program for .* \(exit code 0\)$/,
  },
  {
    name: 'a program that ends with an error of its own',
    lines: [],
    command: 'cat /nosuch',
    says: /^exited with code 1$/,
  },
  {
    name: 'a program without its loader',
    lines: [x, 'CMD ["/dynamic"]'],
    says: /: \/dynamic needs \/lib(64)?\/ld-linux-[\w-]+\.so\.\d, which is not in the image/,
  },
]

test('the cause of a command that cannot be run is named', async (t) => {
  const site = await openDockerSite(t)
  for (const { name, ...given } of cases.filter((_, index) => index % sized(6, 1) === 0)) {
    await t.test(name, async (t) => {
      const Dockerfile = [`FROM ${site.images.busybox}`, 'COPY files/ /', ...given.lines].join('\n')
      const { request } = prepareBuild(t, site.owner, { Dockerfile })
      writeFiles(join(request.contextDir, 'files'))
      const image = (await drivers.buildkit(site).build(request)).imageId
      // The next build takes over its name.
      t.after(() => site.engine.docker.getImage(image).remove({ force: true }))
      assert.match(await runToFailure(site, image, given), given.says)
    })
  }
})

/** What the exit is explained by, or the refusal of the start where no init runs the command. */
async function runToFailure(
  site: DockerSite,
  image: string,
  { command = null, env = [], init = true }: Partial<Pick<InstanceSpec, 'command' | 'env' | 'init'>>,
) {
  const spec = await site.spec({ image, command, env, init })
  try {
    await site.instances.ensure(spec)
  } catch (error) {
    return `could not run: ${(error as Error).message}`
  }
  const exit = await until('its end', async () => {
    const state = await site.instances.inspect(spec.name)
    return state?.state === 'exited' ? state : null
  })
  return describeExit(site.instances, exit, { command })
}

function writeFiles(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  copyFileSync('/bin/true', join(folder, 'dynamic'))
}

function elfFor(machine: number): Buffer {
  const header = Buffer.alloc(64)
  header.write('\x7fELF\x02\x01\x01', 'latin1')
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(machine, 18)
  return header
}
