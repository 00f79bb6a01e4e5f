import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { placesOf } from '../../../src/process/watch/places.ts';

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
});
