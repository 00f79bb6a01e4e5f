import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

const FOLDER = fileURLToPath(new URL('../../config/examples/', import.meta.url));

/** The environment variables that the examples use. */
const environment = {
  COURSEGATE_SECRET: 'k'.repeat(32),
  REDIS_URL: 'redis://localhost:6379',
  REDIS_PASSWORD: 'hunter2-hunter2',
  DATABASE_URL: 'postgres://gate:hunter2-hunter2@db.internal/coursegate',
};

describe('config/examples', () => {
  it.each(readdirSync(FOLDER).filter((name) => name.endsWith('.yaml')))('%s loads without a warning', async (file) => {
    const { config, warnings } = await loadConfig({ file: `${FOLDER}${file}`, environment });
    expect(config.origin).toBe('https://school.example');
    expect(warnings).toEqual([]);
  });

  it('redis.yaml uses Redis', async () => {
    const { config, redis } = await loadConfig({ file: `${FOLDER}redis.yaml`, environment });
    expect(config.store.kind).toBe('redis');
    expect(redis?.url).toBe(environment.REDIS_URL);
  });

  it('postgres.yaml uses PostgreSQL, and keeps its URL out of printed output', async () => {
    const { config, databaseUrl } = await loadConfig({ file: `${FOLDER}postgres.yaml`, environment });
    expect(config.store.kind).toBe('postgres');
    expect(databaseUrl).toBe(environment.DATABASE_URL);
    expect(JSON.stringify(config)).not.toContain('hunter2');
  });

  it.each([
    ['redis-sentinel.yaml', { sentinels: { length: 3, 0: { port: 26_379 } }, masterName: 'mymaster', minReplicas: 1 }],
    ['redis-cluster.yaml', { cluster: { length: 3, 0: { port: 6379 } }, minReplicas: 1 }],
  ])('%s names its nodes, and keeps the password out of printed output', async (file, store) => {
    const { config, redis } = await loadConfig({ file: `${FOLDER}${file}`, environment });
    expect(config.store).toMatchObject(store);
    expect(redis).toMatchObject({ url: undefined, password: environment.REDIS_PASSWORD });
    expect(JSON.stringify(config)).not.toContain(environment.REDIS_PASSWORD);
  });
});
