import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const INSTALLATION = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = `${INSTALLATION}node_modules`;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Keeps compiled code for the next start. The contents of the folder decide what code runs, so it is inside the
 * installation: writing there takes the same rights as changing the source. An installation that is read-only, or that
 * belongs to another account, has no cache unless the operator sets NODE_COMPILE_CACHE. The single binary has no folder.
 */
function keepCompiledCode() {
  const folder = `${PACKAGES}/.cache/coursegate`;
  try {
    // An older Node lacks this function, and has to get as far as to say that it is too old.
    if (process.getBuiltinModule('node:sea').isSea()) return;
    const account = process.getuid?.();
    // Installed by npm, the packages are beside this one.
    if ((statSync(PACKAGES, { throwIfNoEntry: false }) ?? statSync(INSTALLATION)).uid !== account) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    if (uid === account && (mode & WRITABLE_BY_OTHERS) === 0) module.enableCompileCache(folder);
  } catch {
    // Without the cache, starts only take longer.
  }
}

// When it is imported, because it has no effect on what is loaded before. JavaScript, so that the first TypeScript is kept too.
keepCompiledCode();
