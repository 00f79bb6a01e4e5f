import { freePort, startWorld } from '../../support/world.ts';
import { type Client, type Language, lacking, PROFILES, type Profile } from './catalogue.ts';
import { ClientAuthentications } from './client-authentication.ts';
import { type Outcome, runProgram } from './program.ts';

/** Seconds. Long enough for a slow machine to use a token, short enough for every client to outlive one. */
const TOKEN_LIFETIME = 20;

/** How many programs may start at once: then they compute. Later they wait, and only take memory. */
const STARTING = 3;
const RUNNING = 40;

export interface Result {
  readonly language: Language;
  readonly client: Client;
  readonly profile: Profile;
  readonly outcome: Outcome;
  /** How it authenticated at the gate; undefined if it never redeemed a code. */
  readonly clientType: string | undefined;
}

/** Runs clients side by side, each in its profiles, against one gate for each profile. Skips those that cannot run here. */
export async function runClients(
  chosen: readonly { language: Language; client: Client }[],
  report: (result: Result) => void = () => {},
): Promise<Result[]> {
  await using gates = new AsyncDisposableStack();
  const runs: (() => Promise<Result>)[] = [];
  const starting = semaphore(STARTING);
  const running = semaphore(RUNNING);
  for (const profile of PROFILES) {
    const world = await startWorld({ profile, overrides: { tokens: { access: `${TOKEN_LIFETIME}s` } } });
    gates.defer(() => world.close());
    const authentications = gates.use(new ClientAuthentications(world.origin));
    const environment = await environmentOf(profile, world.origin);
    for (const { language, client } of chosen) {
      if (!client.profiles.includes(profile) || lacking(language, client) !== undefined) continue;
      runs.push(async () => {
        const ended = await running();
        const settled = await starting();
        const callback = `http://127.0.0.1:${await freePort()}/callback`;
        const outcome = await runProgram({ language, client, profile, environment, callback, settled });
        ended();
        const [clientType] = outcome.codes.flatMap((code) => authentications.typeOf(code) ?? []);
        const result = { language, client, profile, outcome, clientType };
        report(result);
        return result;
      });
    }
  }
  return await Promise.all(runs.map((run) => run()));
}

export async function environmentOf(profile: Profile, origin: string): Promise<Record<string, string>> {
  const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource`);
  const { resource } = (await metadata.json()) as { resource: string };
  return {
    PROFILE: profile,
    ISSUER: origin,
    RESOURCE: resource,
    MCP_URL: `${origin}/mcp`,
    TOKEN_LIFETIME: String(TOKEN_LIFETIME),
    ...(profile === 'A' ? { ACCOUNT_URL: `${origin}/account/graphql` } : {}),
  };
}

/** Resolves when one of `count` places is free, to a function that frees it again. */
function semaphore(count: number): () => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    };
  };
}
