import { describe, expect, it } from 'vitest';
import { addKey, keepNeeded, removeKey, replaceItems, replaceValue } from '../../src/config/edit-yaml.ts';

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

describe('replacing the items of a list', () => {
  const FILE = `# The gate of the school.
routes: # in order
  # Courses, for everybody.
  # Two lines.
  - { match: "GET /a", upstream: school } # a
  - match: GET /b
    # within b
    upstream: school

  # Only c.
  - { match: "GET /c", upstream: school }
# After the list.
site: { upstream: school }
`;

  it('keeps items with their comments, in the new order, and everything else', () => {
    expect(
      replaceItems(FILE, 'routes', [{ at: 2 }, { value: '{ match: "GET /new" } # 3 requests' }, { at: 0 }]),
    ).toBe(`# The gate of the school.
routes: # in order
  # Only c.
  - { match: "GET /c", upstream: school }
  - { match: "GET /new" } # 3 requests
  # Courses, for everybody.
  # Two lines.
  - { match: "GET /a", upstream: school } # a
# After the list.
site: { upstream: school }
`);
    expect(replaceItems(FILE, 'routes', [{ at: 0 }, { at: 1 }, { at: 2 }])).toBe(FILE);
    expect(
      replaceItems(FILE, 'routes', [
        { at: 1, value: '{ b: 1 }' },
        { at: 2, value: '{ c: 1 }' },
      ]),
    ).toContain('routes: # in order\n  - { b: 1 }\n  # Only c.\n  - { c: 1 }\n# After the list.\n');
  });

  it('writes an empty list, fills one, and adds a missing one', () => {
    expect(replaceItems(FILE, 'routes', [])).toContain('routes: [] # in order\n# After the list.\n');
    expect(replaceItems('a: 1\nroutes: []\nb: 2\n', 'routes', [{ value: '{ x: 1 }' }])).toBe(
      'a: 1\nroutes:\n  - { x: 1 }\nb: 2\n',
    );
    expect(replaceItems('routes:\nb: 2', 'routes', [{ value: '{ x: 1 }' }])).toBe('routes:\n  - { x: 1 }\nb: 2');
    expect(replaceItems('a: 1', 'routes', [{ value: '{ x: 1 }' }])).toBe('a: 1\n\nroutes:\n  - { x: 1 }\n');
  });

  it('writes a list on one line as several', () => {
    expect(
      replaceItems('routes: [{ x: 1 }, { x: 2 }] # two\nb: 2\n', 'routes', [{ at: 1 }, { value: '{ x: 3 }' }]),
    ).toBe('routes:\n  - { x: 2 }\n  - { x: 3 }\n # two\nb: 2\n');
  });

  it('reads lists that are not indented', () => {
    expect(replaceItems('routes:\n- x: 1\n- x: 2\nb: 2\n', 'routes', [{ value: '{ x: 0 }' }, { at: 1 }])).toBe(
      'routes:\n- { x: 0 }\n- x: 2\nb: 2\n',
    );
  });
});
