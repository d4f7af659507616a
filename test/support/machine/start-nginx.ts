/** Starts Debian's nginx with ops/nginx.conf. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { debianPrograms } from './debian-package.ts'
import { placed } from './placed.ts'
import { takesConnections } from '../processes/takes-connections.ts'
import { TLS_FILES } from '../http/tls-files.ts'

interface Places {
  /** Loopback ports: nginx's for https, and the gateway's. */
  ports: { https: number; gateway: number }
  mediaFolder: string
}

/** Starts nginx with the certificate of TLS_FILES. Resolves once it listens. */
export async function startNginx(
  t: Pick<TestContext, 'after'>,
  { ports, mediaFolder }: Places,
): Promise<void> {
  const { folder: programs, env } = await debianPrograms('nginx', ['nginx'])
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  const config = await placed('ops/nginx.conf', {
    'user winnow;': process.getuid?.() === 0 ? `user ${userInfo().username};` : '',
    '/run/nginx.pid': `${folder}/nginx.pid`,
    'http {': `http { ${temporary}`,
    '/var/log/nginx/access.log': `${folder}/access.log`,
    'listen 443 ': `listen 127.0.0.1:${ports.https} `,
    'server_name winnow.example': 'server_name localhost',
    '/etc/nginx/winnow.pem': TLS_FILES.certificate,
    '/etc/nginx/winnow.key': TLS_FILES.key,
    '127.0.0.1:8080': `127.0.0.1:${ports.gateway}`,
    '/var/lib/winnow/media/': `${mediaFolder}/`,
  })
  const path = join(folder, 'nginx.conf')
  await writeFile(path, config)
  const options = ['-c', path, '-p', folder, '-e', 'stderr', '-g', 'daemon off;']
  const server = spawn(join(programs, 'nginx'), options, {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  server.stderr.on('data', (text: Buffer) => (log += text.toString()))
  const ended = once(server, 'exit')
  t.after(async () => {
    server.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  while (!(await takesConnections(ports.https))) {
    if (server.exitCode !== null) throw new Error(`nginx did not start:\n${log}`)
    await sleep(20)
  }
}
