import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuiltImage } from './engine.ts';

const SCRIPTS = fileURLToPath(new URL('../stand-ins', import.meta.url));

/**
 * An image made of the programs of this machine, in place of an official one: its entry point is a script in
 * test/image/stand-ins, which is at /opt/stand-ins in the container. `folder` is empty and gets the files.
 */
export function standIn(folder: string, entryPoint: string, workingDir: string): BuiltImage {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, name));
  for (const name of ['usr', 'etc', 'opt', 'var', 'tmp', 'run']) mkdirSync(join(folder, name));
  mkdirSync(join(folder, workingDir), { recursive: true });
  return {
    root: folder,
    configuration: {
      User: '0:0',
      Env: ['PATH=/opt/stand-ins:/usr/sbin:/usr/bin'],
      Entrypoint: [`/opt/stand-ins/${entryPoint}`],
      Cmd: [],
      WorkingDir: workingDir,
      Volumes: {},
    },
    mounts: { '/usr:ro': '/usr', '/etc:ro': '/etc', '/opt/stand-ins:ro': SCRIPTS },
  };
}
