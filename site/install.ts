import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LOCK = fileURLToPath(new URL('package-lock.json', import.meta.url));
/** A copy of the lock that was installed last. */
const INSTALLED = fileURLToPath(new URL('node_modules/.coursegate-lock.json', import.meta.url));

/** Installs VitePress into site/node_modules, unless what the lock names is there. It is not among the product's packages. */
export function installGenerator(): void {
  const lock = readFileSync(LOCK, 'utf8');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lock) return;
  const folder = fileURLToPath(new URL('.', import.meta.url));
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(INSTALLED, lock);
}
