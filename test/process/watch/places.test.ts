import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { placesOf } from '../../../src/process/watch/places.ts';
import { createWatcher } from '../../../src/process/watch/watcher.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coursegate-places-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the folders to watch for a file', () => {
  it('are its own and those of every link on the way to it, even with a relative path', async () => {
    for (const name of ['mounted', 'real']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'real', 'gate.yaml'), '');
    symlinkSync('../real/./gate.yaml', join(folder, 'mounted', 'gate.yaml'));
    const places = await placesOf([{ path: join(folder, 'mounted', 'gate.yaml'), kind: 'file' }]);
    expect(places.get(join(folder, 'mounted'))).toEqual(new Set(['gate.yaml']));
    expect(places.get(join(folder, 'real'))).toEqual(new Set(['gate.yaml']));
    expect(places.size).toBe(2);
  });

  it('are those of a link to a folder above it, which a deployment switches to the next release', async () => {
    const app = join(folder, 'app');
    mkdirSync(join(app, 'releases', '7'), { recursive: true });
    writeFileSync(join(app, 'releases', '7', 'gate.yaml'), '');
    symlinkSync('releases/7', join(app, 'current'));
    const places = await placesOf([{ path: join(app, 'current', 'gate.yaml'), kind: 'file' }]);
    expect(places.get(app)).toEqual(new Set(['current']));
    expect(places.get(join(app, 'releases', '7'))).toEqual(new Set(['gate.yaml']));
    expect(places.size).toBe(2);
  });

  it('are those of a link to an absolute path', async () => {
    symlinkSync(join(folder, 'real', 'gate.yaml'), join(folder, 'absolute.yaml'));
    expect(await placesOf([{ path: join(folder, 'absolute.yaml'), kind: 'file' }])).toEqual(
      new Map([
        [folder, new Set(['absolute.yaml'])],
        [join(folder, 'real'), new Set(['gate.yaml'])],
      ]),
    );
  });

  it('are found also where links lead to each other', async () => {
    symlinkSync('pong', join(folder, 'ping'));
    symlinkSync('ping', join(folder, 'pong'));
    expect(await placesOf([{ path: join(folder, 'ping', 'gate.yaml'), kind: 'file' }])).toEqual(
      new Map([[folder, new Set(['ping', 'pong'])]]),
    );
  });

  it('are the nearest one that exists for a file that does not, and with all its names for a folder', async () => {
    const asked = [
      { path: join(folder, 'nothing', 'gate.yaml'), kind: 'file' },
      { path: join(folder, 'nothing', 'here'), kind: 'folder' },
      { path: join(folder, 'real'), kind: 'folder' },
      { path: join(folder, 'real', 'gate.yaml'), kind: 'file' },
    ] as const;
    expect(await placesOf(asked)).toEqual(
      new Map<string, unknown>([
        [folder, new Set(['nothing', 'real'])],
        [join(folder, 'real'), 'all'],
      ]),
    );
  });
});

it('a folder that cannot be watched is reported, and keeps no other from being watched', async () => {
  const lost: string[] = [];
  const changed = Promise.withResolvers<void>();
  const onLost = (at: string) => void lost.push(at);
  const watcher = createWatcher({ quiet: 10, onQuiet: () => changed.resolve(), onLost });
  try {
    // It is a file, so nothing can be in it.
    const nowhere = join(folder, 'real', 'gate.yaml', 'x');
    watcher.set(
      new Map<string, 'all' | ReadonlySet<string>>([
        [nowhere, 'all'],
        [join(folder, 'mounted'), new Set(['watched'])],
      ]),
    );
    expect(lost).toEqual([nowhere]);
    writeFileSync(join(folder, 'mounted', 'watched'), '');
    await changed.promise;
  } finally {
    watcher.close();
  }
});
