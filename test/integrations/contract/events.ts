import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, createBrowser } from '../../support/browser.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { type Backend, type Framework, frameworkPresent, OLU, SAM, startBackend } from './backend.ts';
import { type CommandedGate, startCommandedGate } from './commanded-gate.ts';
import { requestClaims } from './one-request.ts';
import { bridgeQuery, type SigningGate, startKeys } from './signing-gate.ts';

type Person = { readonly username: string; readonly email: string; readonly password: string };

const PATIENCE = { timeout: 30_000, interval: 50 };
const LONGEST = 120_000;

interface Reporting {
  readonly gate: CommandedGate;
  readonly keys: SigningGate;
  readonly backend: Backend;
}

async function startReporting(framework: Framework): Promise<Reporting> {
  const [gate, keys] = await Promise.all([startCommandedGate(), startKeys(SAM.id)]);
  const { origin, upstream, secret, jwksUrl } = keys;
  const events = { admin: gate.admin, adminSecret: COMMAND_SECRET };
  // boundOnly and an absent pagesOrigin have nothing to do with events; they are tested here to start no further site.
  const backend = await startBackend(framework, { origin, upstream, secret, jwksUrl, ...events, boundOnly: true });
  return { gate, keys, backend };
}

/** The events that every drop-in must report, received by the admin listener of a real gate. */
export function describeEvents(framework: Framework): void {
  const present = frameworkPresent(framework);
  // Starts while the file's other tests run: a framework takes seconds.
  let starting: Promise<Reporting> | undefined;
  beforeAll(() => {
    starting = present ? startReporting(framework) : undefined;
    starting?.catch(() => undefined);
  });
  afterAll(async () => {
    const started = await starting?.catch(() => undefined);
    await started?.backend.close();
    await started?.keys.close();
    await started?.gate.close();
  });

  describe.skipIf(!present)(`the events of ${framework.name}`, () => {
    let gate: CommandedGate;
    let keys: SigningGate;
    let backend: Backend;
    beforeAll(async () => {
      ({ gate, keys, backend } = (await starting) as Reporting);
    }, LONGEST);

    const { username, password } = framework.fields ?? { username: 'username', password: 'password' };
    const signIn = async (member: Person): Promise<Browser> => {
      const browser = createBrowser();
      const login = await browser.open(`${backend.url}/login`);
      const named = username.includes('email') ? member.email : member.username;
      const fields = { [username]: named, [password]: member.password };
      await browser.submit(login, fields, (location) => location.startsWith(backend.url));
      return browser;
    };
    /** Changes the password on the site's page. Returns the member with the new password. */
    const changePassword = async (member: Person, fresh: string): Promise<Person> => {
      const browser = await signIn(member);
      const form = await browser.open(`${backend.url}/password`);
      await browser.submit(form, framework.newPassword(member.password, fresh));
      const changed = { ...member, password: fresh };
      const after = await signIn(changed);
      const cookie = [...after.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
      expect((await fetch(`${backend.url}/coursegate/whoami`, { headers: { cookie } })).status).toBe(200);
      return changed;
    };

    it('come from a site that accepts only assertions made for one request, as configured', async () => {
      const status = async (claims: Readonly<Record<string, unknown>>) => {
        const headers = { 'x-coursegate-assertion': keys.assertion(claims) };
        return (await fetch(`${backend.url}/probe`, { headers })).status;
      };
      expect(await status(requestClaims(keys, 'GET', '/probe'))).toBe(200);
      expect(await status({})).toBe(401);
    });

    it('come from a site that returns members to the origin only: no other is configured', async () => {
      const ask = async (back: string) => {
        const query = bridgeQuery(keys.secret, { nonce: 'n-1', return_sso_url: back });
        const url = `${backend.url}/coursegate/bridge?${new URLSearchParams(query)}`;
        return (await fetch(url, { redirect: 'manual' })).status;
      };
      expect(await ask('https://gate.example/oauth/sign-in/callback/bridge')).toBe(302);
      expect(await ask('https://login.gate.example/oauth/sign-in/callback/bridge')).toBe(400);
    });

    it(
      'report a password change to the gate, signed, and nothing else',
      async () => {
        await signIn(OLU);
        const before = gate.ended().length;
        const changed = await changePassword(SAM, 'another horse altogether');
        await expect
          .poll(() => gate.ended().slice(before), PATIENCE)
          .toEqual([{ id: SAM.id, reason: expect.stringMatching(/^password (or rights )?changed$/), by: 'backend' }]);
        await changePassword(changed, SAM.password);
        await expect.poll(() => gate.ended().length, PATIENCE).toBe(before + 2);
        expect(gate.refused()).toBe(0);
      },
      LONGEST,
    );

    it.each(['hang', 'refuse'] as const)(
      'do not block a password change when connections to the gate %s',
      async (state) => {
        const before = { ended: gate.ended().length, connections: gate.connections() };
        gate.wire(state);
        try {
          const changed = await changePassword(OLU, 'staple for nobody else');
          await expect.poll(gate.connections, PATIENCE).toBeGreaterThan(before.connections);
          gate.wire('well');
          await changePassword(changed, OLU.password);
        } finally {
          gate.wire('well');
        }
        // The first event is lost, the second is delivered.
        await expect
          .poll(
            () =>
              gate
                .ended()
                .slice(before.ended)
                .map(({ id }) => id),
            PATIENCE,
          )
          .toEqual([OLU.id]);
      },
      LONGEST,
    );
  });
}
