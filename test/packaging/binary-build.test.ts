import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildBinary } from '../../packaging/binary/build.ts';
import { Elf } from '../../packaging/binary/elf.ts';
import { builderPresent, builtArtefacts } from './support/artefacts.ts';

const WRITABLE_CODE = 3;
const INTERPRETER = 3;

describe.skipIf(!builderPresent())('building the single binaries', () => {
  let artefacts: Awaited<ReturnType<typeof builtArtefacts>>;
  beforeAll(async () => {
    artefacts = await builtArtefacts();
  }, 10 * 60_000);
  const built = (name: string) => readFileSync(join(artefacts.binaries, name));

  it('gives the same files in another folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-again-'));
    try {
      cpSync(artefacts.bundle, join(folder, 'bundle'), { recursive: true });
      const files = await buildBinary({ bundle: join(folder, 'bundle'), out: join(folder, 'out') });
      const names = ['coursegate-linux-x64', 'coursegate-linux-arm64', 'NOTICE-node'];
      expect(files.map((file) => basename(file))).toEqual(names);
      const hash = (content: Buffer) => createHash('sha256').update(content).digest('hex');
      expect(files.map((file) => hash(readFileSync(file)))).toEqual(names.map((name) => hash(built(name))));
      expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o755, 0o755, 0o644]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('adds the licences of Node and of GCC’s libraries', () => {
    const notice = built('NOTICE-node').toString('utf8');
    expect(notice).toContain('Node.js is licensed for use as follows');
    expect(notice).toContain('GPL-3.0-or-later WITH GCC-exception-3.1');
  });

  it.each(['coursegate-linux-x64', 'coursegate-linux-arm64'])('leaves no path of this machine in %s', (name) => {
    for (const path of [process.cwd(), 'coursegate-application-']) expect(built(name).includes(path)).toBe(false);
  });

  it.each(['coursegate-linux-x64', 'coursegate-linux-arm64'])('makes no code in %s writable', (name) => {
    const { segments } = new Elf(built(name));
    expect(segments.filter(({ flags }) => (flags & WRITABLE_CODE) === WRITABLE_CODE)).toEqual([]);
    expect(segments.map(({ type }) => type)).not.toContain(INTERPRETER);
  });
});
