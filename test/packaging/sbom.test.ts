import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { notice } from '../../packaging/notice.ts';
import { packagesOf, productionPackages } from '../../packaging/packages.ts';
import { nodeComponent } from '../../packaging/runtime-components.ts';
import { sbom } from '../../packaging/sbom.ts';
import { schemaErrors } from './support/cyclonedx-schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIME = 1_763_900_000;
const MODULES = [
  'src/main.ts',
  'node_modules/@graphql-tools/merge/dist/index.js',
  'node_modules/@graphql-tools/merge/node_modules/@graphql-tools/utils/dist/index.js',
  'node_modules/express/index.js',
  'node_modules/express/lib/express.js',
  join(ROOT, 'node_modules/jose/dist/webapi/index.js'),
];

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
}
interface Bom {
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

describe('the SBOM', () => {
  const text = sbom(packagesOf(MODULES), TIME);
  const bom = JSON.parse(text) as Bom;

  it('is valid CycloneDX 1.6', () => {
    expect(bom.specVersion).toBe('1.6');
    expect(schemaErrors(text)).toEqual([]);
    expect(schemaErrors(text.replace('"library"', '"book"'))).not.toEqual([]);
  });

  it('names the packages that the modules come from, and no others', () => {
    expect(bom.components.map((one) => one['bom-ref'])).toEqual([
      'node_modules/@graphql-tools/merge',
      'node_modules/@graphql-tools/merge/node_modules/@graphql-tools/utils',
      'node_modules/express',
      'node_modules/jose',
    ]);
  });

  it('has version, licence and hash of each, and who needs it', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/jose/package.json'), 'utf8'));
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const integrity: string = lock.packages['node_modules/jose'].integrity;
    const digest = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    expect(bom.components.at(-1)).toMatchObject({
      name: 'jose',
      version,
      purl: `pkg:npm/jose@${version}`,
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: digest }],
    });
    expect(bom.dependencies.find(({ ref }) => ref === 'node_modules/@graphql-tools/merge')?.dependsOn).toEqual([
      'node_modules/@graphql-tools/merge/node_modules/@graphql-tools/utils',
    ]);
    expect(bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref'])?.dependsOn).toEqual([
      'node_modules/@graphql-tools/merge',
      'node_modules/express',
      'node_modules/jose',
    ]);
  });

  it('has nothing random, and the given time', () => {
    expect(sbom(packagesOf([...MODULES].reverse()), TIME)).toBe(text);
    expect(bom.metadata.timestamp).toBe('2025-11-23T12:13:20.000Z');
    expect(bom.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const other = JSON.parse(sbom(packagesOf(MODULES.slice(0, -1)), TIME)) as Bom;
    expect(other.serialNumber).not.toBe(bom.serialNumber);
  });

  it('of the npm package names what npm installs with it', () => {
    const installed = JSON.parse(sbom(productionPackages(), TIME)) as Bom;
    const names = new Set(installed.components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([]);
    expect(names).toContain('bytes');
    for (const development of ['vitest', 'typescript', 'pg', 'mysql2', 'node'])
      expect(names).not.toContain(development);
  });

  it('of a binary names Node too, with what it is made of', () => {
    const { version, versions } = process;
    const whole = sbom(packagesOf(MODULES), TIME, [nodeComponent(versions)]);
    expect(schemaErrors(whole)).toEqual([]);
    const node = (JSON.parse(whole) as Bom).components.find(({ name }) => name === 'node');
    expect(node).toMatchObject({ type: 'platform', version: version.slice(1), licenses: [{ license: { id: 'MIT' } }] });
    const parts = new Map(node?.components?.map((one) => [one.name, one.version]));
    expect(parts.get('openssl')).toBe(versions.openssl);
    expect(parts.get('sqlite')).toBe(versions.sqlite);
    expect(parts.has('modules')).toBe(false);
  });
});

describe('NOTICE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-notice-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A package with this licence, and with these files. */
  const made = (license: string, files: Readonly<Record<string, string>>) => {
    const path = mkdtempSync(join(folder, 'package-'));
    mkdirSync(path, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    return {
      folder: relative(ROOT, path),
      manifest: { name: 'made-up', version: '1.2.3', license },
      integrity: 'sha512-AA==',
    };
  };

  it('has the licence of every package', () => {
    const text = notice(packagesOf(MODULES));
    const express = readFileSync(join(ROOT, 'node_modules/express/LICENSE'), 'utf8').trim();
    expect(text).toContain(express.replaceAll('\r\n', '\n'));
    expect(text).toMatch(/^express \d\S+ \(MIT\)$/m);
    expect(text).toContain('Copyright (c) 2020 The Guild, Inc.');
  });

  it('has the NOTICE of a package beside its licence', () => {
    const both = made('Apache-2.0', { 'LICENSE.txt': 'Apache License', NOTICE: 'Made by Example' });
    expect(notice([both])).toContain('made-up 1.2.3 (Apache-2.0)\n\nApache License\n\nMade by Example\n');
  });

  it('cannot be written for a package without a licence text', () => {
    expect(() => notice([made('MIT', { 'index.js': '' })])).toThrow('made-up 1.2.3 has no licence text');
    expect(() => notice([made('MIT', { LICENSE: ' \n' })])).toThrow('made-up 1.2.3 has no licence text');
  });

  it.each(['GPL-3.0-only', 'UNLICENSED', 'MIT OR GPL-2.0', 'SEE LICENSE IN LICENSE'])(
    'cannot be written for a package under %s',
    (license) => {
      expect(() => notice([made(license, { LICENSE: 'text' })])).toThrow(`has the licence ${license}`);
    },
  );
});
