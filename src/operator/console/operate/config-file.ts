import { access, constants, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { draftOf } from '../../../storage/new-file.ts';

const WORDS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a file system that is mounted read-only',
  EACCES: 'this process may not write it',
  EPERM: 'this process may not write it, or not keep its owner',
  EBUSY: 'it is mounted by itself; mount its folder instead',
  ENOSPC: 'the disk is full',
};

/** Why the file cannot be replaced, in words; undefined if it can be. */
export async function whyNotWritable(file: string): Promise<string | undefined> {
  try {
    const real = await realpath(file);
    const { mode } = await stat(real);
    // Root could write it all the same, and should not.
    if ((mode & 0o222) === 0) return 'its permissions make it read-only';
    await access(real, constants.W_OK);
    await access(dirname(real), constants.W_OK);
    return undefined;
  } catch (thrown) {
    return inWords(thrown);
  }
}

/**
 * Replaces the file at once: readers see the old text or the new one. Links to it, permissions and owner stay. Resolves
 * to why it could not be replaced, in words; then nothing has changed.
 * @param before - the text that it must still have
 */
export async function replaceFile(file: string, text: string, before: string): Promise<string | undefined> {
  let draft: string | undefined;
  try {
    const real = await realpath(file);
    draft = draftOf(real);
    await writeLike(real, draft, text);
    if ((await readFile(real, 'utf8')) !== before) return 'it has been changed meanwhile';
    await rename(draft, real);
    draft = undefined;
    return undefined;
  } catch (thrown) {
    return inWords(thrown);
  } finally {
    if (draft !== undefined) await rm(draft, { force: true });
  }
}

/** Writes a new file with the permissions and the owner of another. */
async function writeLike(model: string, path: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(model);
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    const own = await handle.stat();
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid);
    await handle.chmod(mode & 0o7777);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function inWords(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === undefined) throw thrown;
  return WORDS[code] ?? `the system says ${code}`;
}
