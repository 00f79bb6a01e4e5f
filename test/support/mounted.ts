import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A folder laid out like a ConfigMap or Secret mounted by a kubelet: everything in it is a symbolic link through
 * `..data`.
 */
export interface Mounted {
  readonly folder: string;
  /** Replaces all files atomically: writes a new folder and renames a link to it over `..data`. */
  swap(files: Readonly<Record<string, string>>): void;
  remove(): void;
}

export function mounted(first: Readonly<Record<string, string>>): Mounted {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-mounted-'));
  let times = 0;

  const swap = (files: Readonly<Record<string, string>>): void => {
    times += 1;
    const name = `..2026_11_21_${times}`;
    for (const [file, text] of Object.entries(files)) {
      const path = join(folder, name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    symlinkSync(name, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    const tops = new Set(Object.keys(files).map((file) => file.split('/', 1)[0] as string));
    for (const top of tops) if (!readdirSync(folder).includes(top)) symlinkSync(join('..data', top), join(folder, top));
    if (times > 1) rmSync(join(folder, `..2026_11_21_${times - 1}`), { recursive: true });
  };

  swap(first);
  return { folder, swap, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
