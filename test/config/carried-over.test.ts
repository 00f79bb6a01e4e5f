import { describe, expect, it } from 'vitest';
import { carriedOver } from '../../src/config/carried-over.ts';

describe('what a configuration shares with the next one', () => {
  const world = () => {
    const all = carriedOver();
    const ended: string[] = [];
    let made = 0;
    const take = (share: ReturnType<typeof all.share>, name: string, from: unknown) =>
      share.take(
        name,
        from,
        () => {
          made += 1;
          return `${name} ${made}`;
        },
        (it) => ended.push(it),
      );
    return { all, ended, take };
  };

  it('is reused if its source is equal, and created otherwise', async () => {
    const { all, ended, take } = world();
    const [before, after] = [all.share(), all.share()];
    expect(take(before, 'pool', { url: 'a' })).toBe('pool 1');
    expect(take(after, 'pool', { url: 'a' })).toBe('pool 1');
    expect(take(after, 'pool', { url: 'b' })).toBe('pool 2');
    expect(take(after, 'other', { url: 'a' })).toBe('other 3');
    expect(ended).toEqual([]);
  });

  it('is closed once, when its last user releases it', async () => {
    const { all, ended, take } = world();
    const [before, after] = [all.share(), all.share()];
    take(before, 'pool', 1);
    take(after, 'pool', 1);
    take(after, 'pool', 1);
    await after.release();
    expect(ended).toEqual([]);
    await before.release();
    await before.release();
    expect(ended).toEqual(['pool 1']);
    expect(take(all.share(), 'pool', 1)).toBe('pool 2');
  });
});
