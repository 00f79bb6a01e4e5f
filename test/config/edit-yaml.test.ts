import { describe, expect, it } from 'vitest';
import { addKey, keepNeeded, removeKey, replaceValue } from '../../src/config/edit-yaml.ts';

const PRESET = `# Everything.
name: School    # what members read

upstreams:
  site: { url: http://127.0.0.1:8000 }    # where it listens

# What apps may read.
routes:
  # Orders need a shop.
  # needs wc/v3, shop/v1
  - { match: "GET /orders", upstream: site }
  - match: "GET /courses"
    upstream: site

# Everything else.
site: { upstream: site }

tools:
  - name: a
    text: >-
      Two
      lines.

  # needs llms/v1
  - name: b
    input:
      x: 1

  - name: c
`;

describe('the text of a YAML file', () => {
  it('keeps an entry, without the line about it, if one of its needs is met', () => {
    const kept = keepNeeded(PRESET, (name) => name === 'shop/v1');
    expect(kept).toContain('  # Orders need a shop.\n  - { match: "GET /orders", upstream: site }\n');
    expect(kept).not.toContain('needs');
  });

  it('loses an entry with its comment and everything in it otherwise', () => {
    expect(keepNeeded(PRESET, () => false)).toBe(
      PRESET.replace(/ {2}# Orders[\s\S]*?"GET \/orders".*\n/, '').replace(/ {2}# needs llms[\s\S]*?x: 1\n\n/, ''),
    );
  });

  it('gets other values in place of those at a path', () => {
    const changed = replaceValue(replaceValue(PRESET, ['name'], '"Campus"'), ['upstreams', 'site', 'url'], 'http://b');
    expect(changed).toBe(PRESET.replace('name: School', 'name: "Campus"').replace('http://127.0.0.1:8000', 'http://b'));
  });

  it('gets further keys, in either form of a map', () => {
    const once = addKey(PRESET, ['routes', 0], 'by', 'gateway');
    expect(once).toContain('  - { match: "GET /orders", upstream: site, by: gateway }\n');
    expect(addKey(once, ['routes', 1], 'by', 'gateway')).toContain('  - by: gateway\n    match: "GET /courses"\n');
  });

  it('loses a top-level key with its comment', () => {
    expect(removeKey(PRESET, 'site')).toBe(PRESET.replace('# Everything else.\nsite: { upstream: site }\n\n', ''));
  });

  it('is not changed at a place that is not there', () => {
    expect(() => replaceValue(PRESET, ['login'], 'x')).toThrow(/There is no login/);
    expect(() => removeKey(PRESET, 'login')).toThrow(/There is no login/);
  });
});
