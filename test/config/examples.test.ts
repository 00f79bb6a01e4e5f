import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

const FOLDER = fileURLToPath(new URL('../../config/examples/', import.meta.url));

/** What the examples read from the environment. */
const environment = { COURSEGATE_SECRET: 'k'.repeat(32), REDIS_URL: 'redis://localhost:6379' };

describe('config/examples', () => {
  it.each(readdirSync(FOLDER))('%s loads', async (file) => {
    const { config } = await loadConfig({ file: `${FOLDER}${file}`, environment });
    expect(config.origin).toBe('https://school.example');
  });

  it('redis.yaml is a gate on Redis', async () => {
    const { config, redis } = await loadConfig({ file: `${FOLDER}redis.yaml`, environment });
    expect(config.store.kind).toBe('redis');
    expect(redis?.url).toBe(environment.REDIS_URL);
  });
});
