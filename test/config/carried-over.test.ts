import { describe, expect, it } from 'vitest';
import { carriedOver } from '../../src/config/carried-over.ts';

describe('what a configuration shares with the next one', () => {
  const world = () => {
    const all = carriedOver();
    const ended: string[] = [];
    let made = 0;
    const acquire = (share: ReturnType<typeof all.share>, name: string, from: unknown) =>
      share.acquire(
        name,
        from,
        () => {
          made += 1;
          return `${name} ${made}`;
        },
        (it) => ended.push(it),
      );
    return { all, ended, acquire };
  };

  it('is reused if its source is equal, and created otherwise', async () => {
    const { all, ended, acquire } = world();
    const [before, after] = [all.share(), all.share()];
    expect(acquire(before, 'pool', { url: 'a' })).toBe('pool 1');
    expect(acquire(after, 'pool', { url: 'a' })).toBe('pool 1');
    expect(acquire(after, 'pool', { url: 'b' })).toBe('pool 2');
    expect(acquire(after, 'other', { url: 'a' })).toBe('other 3');
    expect(ended).toEqual([]);
  });

  it('is closed once, when its last user releases it', async () => {
    const { all, ended, acquire } = world();
    const [before, after] = [all.share(), all.share()];
    acquire(before, 'pool', 1);
    acquire(after, 'pool', 1);
    acquire(after, 'pool', 1);
    await after.release();
    expect(ended).toEqual([]);
    await before.release();
    await before.release();
    expect(ended).toEqual(['pool 1']);
    expect(acquire(all.share(), 'pool', 1)).toBe('pool 2');
  });
});
