import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

const FOLDER = fileURLToPath(new URL('../../integrations/', import.meta.url));

describe('the coursegate.yaml beside a drop-in', () => {
  it.each(['django', 'rails', 'laravel', 'express', 'spring'])(
    'of %s loads, and sends assertions to a backend of that name',
    async (name) => {
      const environment = { COURSEGATE_BRIDGE_SECRET: 'k'.repeat(64) };
      const { config } = await loadConfig({ file: `${FOLDER}${name}/coursegate.yaml`, environment });
      expect(config.origin).toBe('https://school.example');
      expect(config.upstreams[name]?.identity).toEqual(['assertion']);
      expect(config.site?.upstream).toBe(name);
      expect(config.routes.every((route) => route.upstream === name && route.anonymous === 'refuse')).toBe(true);
    },
  );
});
