import { randomBytes, randomInt } from 'node:crypto';
import { CALLERS, type Caller } from '../../../test/mcp/support/callers.ts';
import { again, type Place } from '../place.ts';
import { withConnection } from './connections.ts';

/** The `mcp.file` of the soak's gates. */
export const TOOLS = `tools:
  - name: read_thing
    title: Read
    description: For everybody.
    input: { properties: { canary: { type: string } }, required: [canary] }
    get: { upstream: echo, path: "/open/{canary}" }
  - name: read_mine
    title: Read mine
    description: For members.
    scopes: [account:read]
    input: { properties: { canary: { type: string } }, required: [canary] }
    get: { upstream: echo, path: "/members/{member.id}/{canary}" }
  - name: who_am_i
    title: Who am I
    description: By the Account API.
    scopes: [account:read]
    graphql: "{ viewer { id email } }"
    result: { id: /viewer/id, email: /viewer/email }
`;

/** An agent of any MCP revision connects, lists the tools, calls one and disconnects. */
export async function agentOfNobody(place: Place): Promise<void> {
  await again(place, () =>
    withCaller(place, undefined, async (caller) => {
      const names = await caller.list();
      if (String(names) !== 'read_thing') place.ledger.fault('unexpected tools without a member', names);
      await readThing(place, caller);
    }),
  );
}

export function agentOfMember(place: Place): Promise<void> {
  return withConnection(place, async ({ member, tokens }) => {
    await again(place, () =>
      withCaller(place, tokens.access_token, async (caller) => {
        await readThing(place, caller);
        const canary = randomBytes(6).toString('hex');
        const { structuredContent: mine } = await caller.call('read_mine', { canary });
        const { member: seen, target } = mine ?? {};
        const own = seen === member.id && target === `/members/${member.id}/${canary}`;
        if (!own) place.ledger.fault('a tool result for another member', mine);
        const { structuredContent: who } = await caller.call('who_am_i', {});
        if (who?.id === member.id && who.email === null) throw new Error('the backend of who_am_i cannot be reached');
        if (who?.id !== member.id || who.email !== member.email) place.ledger.fault('who_am_i', who);
      }),
    );
    return 'live';
  });
}

async function readThing(place: Place, caller: Caller): Promise<void> {
  const canary = randomBytes(6).toString('hex');
  const { structuredContent } = await caller.call('read_thing', { canary });
  if (structuredContent?.target !== `/open/${canary}`) place.ledger.fault('read_thing', structuredContent);
}

async function withCaller(place: Place, token: string | undefined, use: (caller: Caller) => Promise<void>) {
  const connectAs = CALLERS[randomInt(CALLERS.length)] as (typeof CALLERS)[number];
  const caller = await connectAs(new URL(`${place.origin}/mcp`), token);
  try {
    await use(caller);
  } finally {
    await caller.close();
  }
}
