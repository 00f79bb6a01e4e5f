import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const QUERY = 'query: "select id, hash from users where email = $1"';
const withLogin = (login: string) =>
  SMALL.replace(/^login:\n(?: {2}.*\n)+/m, `login: { kind: database, url: { env: DB }, ${login} }\n`);
const at = (url: string) => ({ environment: { DB: url } });
const GOOD = at('postgres://reader:secret@db.test/school');

describe('login.kind: database', () => {
  it.each(['postgres://a:b@c/d', 'postgresql://a@c/d', 'mysql://a:b@c/d', 'mariadb://a@c/d', 'sqlite:/srv/a.db'])(
    'accepts %s',
    async (url) => {
      const { config, secrets } = await load(withLogin(QUERY), at(url));
      expect(config.login).toMatchObject({ kind: 'database', timeout: 3 });
      expect(secrets.get('login.url')).toBe(url);
    },
  );

  it.each(['redis://a', 'mongodb://secret@b/c', 'a b', 'sqlite:a.db', 'postgres:'])(
    'refuses %s without printing it',
    async (url) => {
      const found = await mistakes(withLogin(QUERY), at(url));
      expect(found).toEqual([expect.stringContaining('DB must be postgres://…, mysql://… or sqlite:/absolute/path')]);
      expect(found.join()).not.toContain('secret');
    },
  );

  it.each<[string, string]>([
    ['update users set a = $1', 'must be one SELECT'],
    ['select 1 where a = $1; drop table b', 'must be one SELECT, without ; and without comments'],
    ['select 1 where a = $1 -- and b', 'must be one SELECT, without ; and without comments'],
    ['select 1 where a = $1 /* b */', 'must be one SELECT, without ; and without comments'],
    ["select 1 where a = 'b'", 'must contain $1 where the login goes'],
    ["select 1 where a = '$1'", 'must contain $1 where the login goes'],
    ['select 1 where a = $10', 'must contain $1 where the login goes'],
    ['select 1 where a = $1 and b = $2', 'must have no parameter other than $1'],
  ])('refuses %s: %s', async (query, message) => {
    const found = await mistakes(withLogin(`query: ${JSON.stringify(query)}`), GOOD);
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  it.each(["select 1 where a = $1 and b = ';--'", 'with x as (select 1) select * from x where a = $1'])(
    'accepts the query %s',
    async (query) => {
      await load(withLogin(`query: ${JSON.stringify(query)}`), GOOD);
    },
  );
});
