import { expect, it } from 'vitest';
import { createAccountControl } from '../../../src/authorization-server/administration/account-control.ts';
import { storedSuspensions } from '../../../src/authorization-server/administration/suspensions.ts';
import { storedGrants } from '../../../src/authorization-server/grants.ts';
import { storedMembers } from '../../../src/authorization-server/members.ts';
import { signInSessions } from '../../../src/login/sign-in-session.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';

it.each(['revokeMember', 'suspendMember', 'resumeMember'] as const)(
  'ends the member’s sign-ins in every browser, and no other member’s',
  async (verb) => {
    const store = memoryStore(Date.now);
    const sessions = signInSessions({ store, clock: Date.now, cookieName: 'gate', lifetime: 600 });
    const begin = async (sub: string) => {
      const member = { sub, email: undefined, name: undefined, authTime: undefined, acr: undefined };
      return `gate=${(await sessions.begin({}, member as Parameters<typeof sessions.begin>[1])).value}`;
    };
    const [phone, desk, other] = [await begin('sam'), await begin('sam'), await begin('olu')];
    expect((await sessions.identify({ cookie: phone }))?.sub).toBe('sam');
    const core = {
      grants: storedGrants(store, () => {}),
      members: storedMembers(store),
      suspensions: storedSuspensions(store, Date.now),
      store,
      clock: Date.now,
      audit: () => {},
    };
    const control = createAccountControl(core, async () => {});
    const decision = { by: 'backend', reason: undefined, certificate: undefined, address: undefined } as const;
    await control[verb]('sam', { ...decision, requestId: undefined });
    for (const cookie of [phone, desk]) expect(await sessions.identify({ cookie })).toBeUndefined();
    expect((await sessions.identify({ cookie: other }))?.sub).toBe('olu');
  },
);
