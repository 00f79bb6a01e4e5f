import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Process, startProcess } from '../../support/processes.ts';
import { toolPath } from '../../support/tools.ts';

/** Starts an nginx in its own folder, with the given content of its `http` block. */
export async function startNginx(options: {
  folder: string;
  name: string;
  workers: number;
  processor: number | undefined;
  port: number;
  http: string;
}): Promise<Process> {
  const folder = join(options.folder, options.name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ');
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes ${options.workers}; daemon off; pid ${folder}/pid; error_log ${folder}/error.log warn;
    worker_rlimit_nofile 20000;
    pcre_jit on;
    events { worker_connections 8192; }
    http { ${temporary} ${options.http} }`,
  );
  return startProcess(toolPath('nginx'), ['-c', file, '-p', folder], {
    processor: options.processor,
    port: options.port,
    output: join(folder, 'output.log'),
  });
}
