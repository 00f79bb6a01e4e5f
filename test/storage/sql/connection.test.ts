import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mysql } from '../../../src/storage/sql/mysql.ts';
import { postgres } from '../../../src/storage/sql/postgres.ts';
import { type SqlDialect, sql } from '../../../src/storage/sql/session.ts';
import { answers } from '../../support/answers.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { startMariaDb } from '../../support/mariadb.ts';
import { missing } from '../../support/missing.ts';
import { POSTGRES, type Postgres, startPostgres, unprivileged } from '../../support/postgres.ts';
import { freePort } from '../../support/world.ts';
import { check, message, started } from './check.ts';
import { MYSQL_SERVERS } from './servers.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';
const pgbouncerPresent = () =>
  (POSTGRES !== undefined && existsSync(PGBOUNCER)) ||
  missing('no PgBouncer found: a test of the postgres store needs it (apt-get install pgbouncer)');

/** Runs one statement, and returns its first row. */
async function ask(dialect: SqlDialect, url: string, text: string): Promise<unknown> {
  const session = await dialect.connect(url);
  const [[row] = []] = await session.run(sql(text));
  session.close();
  return row;
}

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});
const kept = <T extends { close(): unknown }>(opened: T): T => {
  closing.push(() => opened.close());
  return opened;
};

describe('over TLS', () => {
  let authority: Authority;
  let stranger: Authority;
  // Not where everything is skipped: that machine may have no openssl either.
  beforeAll(() => {
    authority = kept(createAuthority());
    stranger = kept(createAuthority());
  });

  it.skipIf(POSTGRES === undefined)(
    'PostgreSQL is used with its CA, and refused with another CA or another name',
    async () => {
      const port = await freePort();
      kept(await startPostgres(false, { port, ...authority.issue('localhost') }));
      const url = (host: string, { caFile }: Authority) =>
        `postgres://postgres@${host}:${port}/postgres?sslmode=verify-full&sslrootcert=${encodeURIComponent(caFile)}`;
      const own = url('localhost', authority);
      expect(await started(postgres, own)).toEqual([expect.stringContaining('fsync = off')]);
      const encrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      expect(await ask(postgres, own, encrypted)).toEqual({ ssl: 't' });
      for (const wrong of [url('localhost', stranger), url('127.0.0.1', authority)]) {
        expect(message(await check(postgres, wrong))).toMatch(
          /cannot be used: .*(certificate|altnames).* Check the TLS settings in `store.url`\./,
        );
      }
    },
  );

  it.each(MYSQL_SERVERS)('$name is used with its CA, and refused with another CA', async ({ program }) => {
    const { certFile, keyFile } = authority.issue('localhost');
    const server = kept(await startMariaDb(false, [`--ssl-cert=${certFile}`, `--ssl-key=${keyFile}`], program));
    const url = ({ ca }: Authority) =>
      `mysql://root@localhost/mysql?${new URLSearchParams({ socketPath: server.socket, ssl: JSON.stringify({ ca, verifyIdentity: true }) })}`;
    expect(await started(mysql, url(authority))).toEqual([expect.stringContaining('innodb_flush_log_at_trx_commit')]);
    const cipher = await ask(mysql, url(authority), "SHOW STATUS LIKE 'Ssl_cipher'");
    expect(cipher).toMatchObject({ Value: expect.stringMatching(/./) });
    expect(message(await check(mysql, url(stranger)))).toMatch(
      /cannot be used: .*certificate.* Check the TLS settings in `store.url`\./,
    );
  });
});

describe.each(MYSQL_SERVERS)('with a password and without TLS, $name', ({ program }) => {
  it('is used over TCP and over a socket, and refused with another password', async () => {
    const port = await freePort();
    const tcp = ['--skip-networking=OFF', '--bind-address=127.0.0.1', `--port=${port}`];
    const server = kept(await startMariaDb(false, tcp, program));
    await server.ask('CREATE DATABASE gate');
    const socket = `localhost/gate?socketPath=${encodeURIComponent(server.socket)}`;
    for (const [user, address] of [
      ['remote', `127.0.0.1:${port}/gate`],
      ['local', socket],
    ] as const) {
      // The first sign-in of a user is the one that MySQL does not answer from its cache.
      await server.ask(`CREATE USER ${user}@localhost IDENTIFIED BY 'secret'`);
      await server.ask(`GRANT ALL ON gate.* TO ${user}@localhost`);
      expect(await started(mysql, `mysql://${user}:secret@${address}`)).toHaveLength(1);
      expect(message(await check(mysql, `mysql://${user}:other@${address}`))).toMatch(
        /cannot be used: Access denied .* Check the user name and the password\./,
      );
    }
  });
});

describe.skipIf(!pgbouncerPresent())('through PgBouncer, PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = kept(await startPostgres());
  });

  /** Starts one, and returns the URL of the database behind it. */
  const pooled = async (mode: string): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await freePort();
    const settings = ['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'];
    const target = `postgres = host=${server.socket} user=postgres`;
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, ['[databases]', target, '[pgbouncer]', ...settings, `pool_mode = ${mode}`, ''].join('\n'));
    const child = spawn(PGBOUNCER, ['-q', file], { stdio: 'ignore', ...unprivileged() });
    closing.push(() => child.kill('SIGKILL') && rmSync(folder, { recursive: true }));
    await vi.waitUntil(() => answers(port), 30_000);
    return `postgres://gate@127.0.0.1:${port}/postgres`;
  };

  it('is used with a connection for each session', async () => {
    expect(await started(postgres, await pooled('session'))).toEqual([expect.stringContaining('fsync = off')]);
  });

  it('is refused with a connection for each transaction', async () => {
    const refused = message(await started(postgres, await pooled('transaction')));
    expect(refused).toMatch(/cannot be used: .*pool_mode to session\.$/);
  });
});
