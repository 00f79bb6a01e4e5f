import { z } from 'zod';
import { secret } from '../../config/secret.ts';

/** The kinds of store in a database server, with the schemes of their URLs. */
const SCHEMES = { postgres: /^postgres(ql)?:\/\/\S+$/, mysql: /^(mysql|mariadb):\/\/\S+$/ } as const;

type SqlKind = keyof typeof SCHEMES;

/** Whether a kind of store is a database server. */
export function isSqlKind(kind: unknown): kind is SqlKind {
  return typeof kind === 'string' && Object.hasOwn(SCHEMES, kind);
}

/** Whether replicas can share a store of this kind. */
export function isSharedStore(kind: unknown): boolean {
  return kind === 'redis' || isSqlKind(kind);
}

function settings<Kind extends SqlKind>(kind: Kind, example: string) {
  const problem = (url: string) =>
    SCHEMES[kind].test(url) && URL.canParse(url) ? undefined : `must be a URL such as ${example}`;
  return z.strictObject({
    kind: z.literal(kind),
    url: secret(problem),
  });
}

/** A store in PostgreSQL, which replicas share. */
export const postgresSettings = settings('postgres', 'postgres://gate:secret@db.internal/coursegate');

/** A store in MariaDB or MySQL, which replicas share. */
export const mysqlSettings = settings('mysql', 'mysql://gate:secret@db.internal/coursegate');
