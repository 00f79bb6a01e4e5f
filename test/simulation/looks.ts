import { type ClientParts, failureOf, inRequest } from './client-parts.ts';
import { RESOURCE } from './gate.ts';
import type { Look, Token } from './known.ts';

/** Shows an access token at a gate, and compares the decision with what is promised. */
export function showAccessToken(parts: ClientParts, token: Token, place: number, name: string, isWatched = true): void {
  const { plan, world, proofs } = parts;
  const { choices } = world;
  if (!plan.bound) {
    show(parts, token, place, { name, proof: undefined });
    return;
  }
  const proof = proofs('app', RESOURCE, 'GET', token.value);
  show(parts, token, place, { name, proof });
  if (!isWatched) return;
  // Someone has the token alone, or has copied the whole request.
  const other = choices.below(`${name} other`, plan.gates);
  if (choices.chance(`${name} stolen`, 0.2))
    show(parts, token, other, { name: `${name} without its key`, proof: undefined });
  if (choices.chance(`${name} copied`, 0.3)) show(parts, token, other, { name: `${name} copy`, proof });
}

function show(
  { plan, world, promises, situations }: ClientParts,
  token: Token,
  place: number,
  { name, proof }: { readonly name: string; readonly proof: string | undefined },
): void {
  let look: Look | undefined;
  world.ask(
    place,
    { name, role: 'use', about: token.connection.name },
    async (gate, life) => {
      const decided = await inRequest(async () => {
        const { decision, lookedUp } = gate.decide(token.value, proof);
        const [start, startOnClock] = [world.now(), world.clock(life)];
        look = { token, life: life.name, start, startOnClock, endOnClock: undefined, lookedUp };
        promises.looks(look);
        return decision;
      }).catch((thrown: Error) => ({ kind: 'failed', ...failureOf(thrown) }) as const);
      if (look !== undefined) look.endOnClock = world.clock(life);
      return decided;
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
        const isAdmitted = decision.kind === 'admitted';
        if (isAdmitted && !look.lookedUp) situations.add('admitted from the cache');
        if (plan.bound && proof === undefined) {
          if (isAdmitted) promises.withoutKey(`${token.name} was admitted by ${life.name}`);
          return;
        }
        if (!isAdmitted && 'challenge' in decision && decision.challenge.error === 'invalid_dpop_proof') {
          situations.add('a copied proof is refused');
          return;
        }
        if (proof !== undefined && isAdmitted) promises.usedProof(proof, name);
        promises.decided(look, isAdmitted);
      },
    },
  );
}
