import { type ClientParts, failureOf, inRequest } from './client-parts.ts';
import type { Look, Token } from './known.ts';

/** Shows an access token at a gate, and compares the decision with what is promised. */
export function showAccessToken(
  { world, promises, situations }: ClientParts,
  token: Token,
  place: number,
  name: string,
): void {
  let look: Look | undefined;
  world.ask(
    place,
    { name, role: 'use', about: token.connection.name },
    async (gate, life) => {
      const decision = await inRequest(async () => {
        const decided = gate.decide(token.value);
        const [start, startOnClock] = [world.now(), world.clock(life)];
        const lookedUp = decided instanceof Promise;
        look = { token, life: life.name, start, startOnClock, endOnClock: undefined, lookedUp };
        promises.looks(look);
        return decided;
      }).catch((thrown: Error) => ({ kind: 'failed', ...failureOf(thrown) }) as const);
      if (look !== undefined) look.endOnClock = world.clock(life);
      return decision;
    },
    {
      begun: () => {},
      done(decision, life) {
        if (decision === undefined || look === undefined || life === undefined) return;
        const how = look.lookedUp ? 'looked up' : 'cached';
        world.say(name, `shows ${token.name} to ${life.name}`, `${decision.kind} (${how})`);
        if (decision.kind === 'failed') {
          promises.failed(decision.status, decision.body, name, look.start);
          return;
        }
        if (decision.kind === 'admitted' && !look.lookedUp) situations.add('admitted from the cache');
        promises.decided(look, decision.kind === 'admitted');
      },
    },
  );
}
