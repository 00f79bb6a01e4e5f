import { createHash } from 'node:crypto';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { type InstalledPackage, manifestIn, requiredBy } from './packages.ts';

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
 * @param beside - What else is in the artefact, such as Node.
 */
export function sbom(
  packages: readonly InstalledPackage[],
  time: number,
  beside: readonly Models.Component[] = [],
): string {
  const gate = componentOf(manifestIn(), Enums.ComponentType.Application);
  const byFolder = new Map(packages.map((one) => [one.folder, packageComponent(one)]));
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ timestamp: new Date(time * 1000), component: gate }),
    components: new Models.ComponentRepository(byFolder.values()),
  });
  connect(gate, '', byFolder);
  for (const [folder, component] of byFolder) connect(component, folder, byFolder);
  for (const component of beside) {
    bom.components.add(component);
    gate.dependencies.add(component.bomRef);
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
