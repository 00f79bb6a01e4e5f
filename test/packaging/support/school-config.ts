import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stringify } from 'yaml';
import { freePort } from '../../support/world.ts';

/** A gate that uses everything a binary must bring: a store, threads for the sign-in, and a gateway that asks. */
export interface SchoolConfig {
  readonly origin: string;
  /** Where gateways ask, as an origin. */
  readonly decisions: string;
  /** Its path in the root. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

const QUERY = 'select id, hash, email, 1 as email_verified, name from users where email = $1';
/** Hashes of "correct horse", by bcrypt and by phpass. */
const MEMBERS = [
  ['1001', 'sam@school.test', '$2y$05$bQZ1cLGoAbtkELjb5m3j/uyaeC4dQY6OxKrYVMv6K82UQ6Ej4ptV6'],
  ['1002', 'olu@school.test', '$P$BXBE/O3QCxuV4a239N3DYSj9hXgQ0N0'],
] as const;

/** Writes a configuration and a database of members into the folder `data` of a root. */
export async function writeSchoolConfig(root: string, upstream: string): Promise<SchoolConfig> {
  const [port, admin, asked] = await Promise.all([freePort(), freePort(), freePort()]);
  const members = new DatabaseSync(join(root, 'data/members.db'));
  members.exec('create table users (id text, email text, hash text, name text)');
  const insert = members.prepare('insert into users values (?, ?, ?, ?)');
  for (const [id, email, hash] of MEMBERS) insert.run(id, email, hash, email);
  members.close();
  const origin = `http://127.0.0.1:${port}`;
  const config = {
    version: 1,
    profile: 'B',
    origin,
    listen: {
      port,
      admin: { port: admin },
      decisions: { address: `127.0.0.1:${asked}`, secret: { env: 'DECISIONS' } },
    },
    store: { kind: 'sqlite', path: 'gate.db' },
    login: { kind: 'database', url: { env: 'MEMBERS' }, query: QUERY },
    upstreams: { school: { url: upstream } },
    site: { upstream: 'school' },
    routes: [
      { match: 'GET /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'], anonymous: 'refuse' },
      { match: 'GET /shop/**', upstream: 'school', forwardedBy: 'gateway', scopes: ['courses:read'] },
    ],
  };
  writeFileSync(join(root, 'data/coursegate.yaml'), stringify(config));
  chmodSync(join(root, 'data/members.db'), 0o644);
  const environment = { MEMBERS: 'sqlite:/data/members.db', DECISIONS: 'a-secret-of-the-gateway-0123456789' };
  return { origin, decisions: `http://127.0.0.1:${asked}`, file: '/data/coursegate.yaml', environment };
}
