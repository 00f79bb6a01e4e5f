import { execFileSync } from 'node:child_process';
import { Enums, Models } from '@cyclonedx/cyclonedx-library';
import node from './binary/node.json' with { type: 'json' };

/** Names in `process.versions` that are no software. */
const NO_SOFTWARE = new Set(['node', 'modules', 'napi', 'unicode', 'tz', 'cldr']);

/**
 * Node as a component, with the libraries that are compiled into it.
 *
 * @param versions - As in `process.versions`.
 */
export function nodeComponent(versions: Readonly<Record<string, string | undefined>>): Models.Component {
  const reference = `node@${versions.node}`;
  const parts = Object.entries(versions).flatMap(([name, version]) => {
    if (version === undefined || NO_SOFTWARE.has(name)) return [];
    return [new Models.Component(Enums.ComponentType.Library, name, { version, bomRef: `${reference}#${name}` })];
  });
  return new Models.Component(Enums.ComponentType.Platform, 'node', {
    ...(versions.node === undefined ? {} : { version: versions.node }),
    bomRef: reference,
    purl: `pkg:generic/${reference}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${versions.node}:*:*:*:*:*:*:*`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
    components: new Models.ComponentRepository(parts),
  });
}

/** What the single binaries contain besides the bundle: Node, and the libraries of GCC that it is linked to. */
export function binaryComponents(): readonly Models.Component[] {
  if (process.versions.node !== node.version) {
    throw new Error(`this is Node ${process.versions.node}, and the binaries contain ${node.version}`);
  }
  const version = execFileSync('x86_64-linux-gnu-gcc', ['-dumpfullversion'], { encoding: 'utf8' }).trim();
  const runtime = new Models.Component(Enums.ComponentType.Library, 'gcc-runtime-libraries', {
    version,
    bomRef: `gcc@${version}`,
    description: 'libstdc++ and libgcc',
    licenses: new Models.LicenseRepository([new Models.LicenseExpression('GPL-3.0-or-later WITH GCC-exception-3.1')]),
  });
  return [nodeComponent(process.versions), runtime];
}
