import { describe, expect, it, vi } from 'vitest';
import { once } from '../../src/http/once.ts';

describe('once', () => {
  it('makes a value with the first call only, also if it is undefined', () => {
    const make = vi.fn(() => undefined);
    const made = once(make);
    expect(make).not.toHaveBeenCalled();
    expect([made(), made()]).toEqual([undefined, undefined]);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('tries again after an error that was thrown, since no value was made', () => {
    let calls = 0;
    const made = once(() => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls;
    });
    expect(made).toThrow('not yet');
    expect([made(), made()]).toEqual([2, 2]);
  });

  it('keeps a promise that rejects', async () => {
    const make = vi.fn(async () => Promise.reject(new Error('never')));
    const made = once(make);
    await expect(made()).rejects.toThrow('never');
    await expect(made()).rejects.toThrow('never');
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('forgets a promise that rejects, if it is told to, and keeps the next one', async () => {
    let calls = 0;
    const made = once(
      async () => {
        calls += 1;
        if (calls === 1) throw new Error('not yet');
        return calls;
      },
      { forgetFailure: true },
    );
    const [first, second] = [made(), made()];
    await expect(first).rejects.toThrow('not yet');
    await expect(second).rejects.toThrow('not yet');
    expect(await made()).toBe(2);
    expect(await made()).toBe(2);
  });
});
