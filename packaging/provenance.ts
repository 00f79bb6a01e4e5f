import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import node from './binary/node.json' with { type: 'json' };
import { ROOT } from './files.ts';
import { manifestIn } from './packages.ts';

/** A file with its SHA-256 in hexadecimal. */
interface Digest {
  readonly name: string;
  readonly sha256: string;
}

/** What a release was built from, and with. */
export interface Build {
  readonly commit: string;
  readonly tag: string;
  /** The kinds of artefacts that were asked for. */
  readonly kinds: readonly string[];
  /** The URI of the system that built it. */
  readonly builder: string;
  /** Seconds since 1970: what everything is dated with. */
  readonly time: number;
  /** Versions of the programs that have a say in the bytes. */
  readonly tools: Readonly<Record<string, string>>;
}

/** The URI of the builder of a release that nothing else is said about: the program in this package. */
export const OWN_BUILDER = `pkg:npm/coursegate@${manifestIn().version}#packaging/release.ts`;

/**
 * An in-toto Statement v1 with SLSA provenance v1 about the given files, in JSON. It is the payload that the owner signs.
 * It has no times, so the same build gives the same bytes.
 */
export function provenance(subjects: readonly Digest[], build: Build): string {
  const { repository } = manifestIn();
  const source = typeof repository === 'string' ? repository : repository?.url;
  const uri = source === undefined ? {} : { uri: `git+${source.replace(/^git\+/, '')}@refs/tags/${build.tag}` };
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(descriptor),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `pkg:npm/coursegate@${manifestIn().version}#docs/verify.md`,
        externalParameters: { ref: `refs/tags/${build.tag}`, only: build.kinds },
        internalParameters: { SOURCE_DATE_EPOCH: build.time, tools: build.tools },
        resolvedDependencies: [
          { name: 'source', ...uri, digest: { gitCommit: build.commit } },
          descriptor({ name: 'package-lock.json', sha256: lock }),
          ...Object.entries(node.integrity).map(([processor, integrity]) => ({
            uri: `pkg:npm/node-linux-${processor}@${node.version}`,
            digest: { sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') },
          })),
        ],
      },
      runDetails: { builder: { id: build.builder } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

const descriptor = ({ name, sha256 }: Digest) => ({ name, digest: { sha256 } });
