import { createHash } from 'node:crypto';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { type InstalledPackage, manifestIn, requiredBy } from './packages.ts';

/** A program that goes along with coursegate, and the versions of what it is made of. */
export interface Runtime {
  readonly version: string;
  /** As in `process.versions`. */
  readonly contains: Readonly<Record<string, string | undefined>>;
}

const licences = new Contrib.License.Factories.LicenseFactory(() => {
  throw new Error('no licence expressions: npm’s are single SPDX identifiers, and others are written as names');
});
const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  licences,
);

/**
 * A CycloneDX 1.6 document in JSON that names coursegate, the given packages, and who needs whom. The same packages and
 * time give the same bytes.
 *
 * @param time - Seconds since 1970.
 * @param runtime - Node, where it is part of the artefact.
 */
export function sbom(packages: readonly InstalledPackage[], time: number, runtime?: Runtime): string {
  const gate = componentOf(manifestIn(), Enums.ComponentType.Application);
  const byFolder = new Map(packages.map((one) => [one.folder, packageComponent(one)]));
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ timestamp: new Date(time * 1000), component: gate }),
    components: new Models.ComponentRepository(byFolder.values()),
  });
  connect(gate, '', byFolder);
  for (const [folder, component] of byFolder) connect(component, folder, byFolder);
  if (runtime !== undefined) {
    const node = runtimeComponent(runtime);
    bom.components.add(node);
    gate.dependencies.add(node.bomRef);
  }
  bom.serialNumber = serialNumberOf(serialized(bom));
  return `${serialized(bom)}\n`;
}

function componentOf(manifest: ReturnType<typeof manifestIn>, type: Enums.ComponentType): Models.Component {
  const component = components.makeComponent({ ...manifest }, type);
  if (component === undefined) throw new Error('a package without a name');
  component.purl = `pkg:npm/${manifest.name.replace('@', '%40')}@${manifest.version}`;
  component.bomRef.value = component.purl;
  return component;
}

function packageComponent({ manifest, integrity, folder }: InstalledPackage): Models.Component {
  const component = componentOf(manifest, Enums.ComponentType.Library);
  // The same version can be installed in two places.
  component.bomRef.value = folder;
  const [, digest] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  if (digest === undefined) throw new Error(`${folder} has no SHA-512 in package-lock.json`);
  component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex'));
  return component;
}

function connect(component: Models.Component, folder: string, among: ReadonlyMap<string, Models.Component>): void {
  for (const needed of requiredBy(folder)) {
    const other = among.get(needed);
    if (other !== undefined) component.dependencies.add(other.bomRef);
  }
}

/** Versions of interfaces in `process.versions`: no software. */
const INTERFACES = new Set(['node', 'modules', 'napi', 'unicode', 'tz', 'cldr']);

function runtimeComponent({ version, contains }: Runtime): Models.Component {
  const parts = Object.entries(contains).flatMap(([name, its]) =>
    its === undefined || INTERFACES.has(name) ? [] : [[name, its] as const],
  );
  return new Models.Component(Enums.ComponentType.Platform, 'node', {
    version,
    bomRef: `node@${version}`,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: new Models.LicenseRepository([licences.makeFromString('MIT')]),
    components: new Models.ComponentRepository(
      parts.map(
        ([name, its]) =>
          new Models.Component(Enums.ComponentType.Library, name, { version: its, bomRef: `node@${version}#${name}` }),
      ),
    ),
  });
}

function serialized(bom: Models.Bom): string {
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
}

/** A UUID of version 8 (RFC 9562) from the content, because a random one would differ with each build. */
function serialNumberOf(content: string): string {
  const bytes = createHash('sha256').update(content).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`;
}
