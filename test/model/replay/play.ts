import { bearer } from '../../support/app.ts';
import type { Tokens } from '../../support/connection.ts';
import type { Step } from '../trace.ts';
import type { Answer } from './gates.ts';
import { approval, FIELD, lookUp, revocation, suspension, tokenRequest } from './held-request.ts';
import type { Moment } from './model-state.ts';
import { finish, giveUp, goOn, heldFor, isEnding, leave, type Played, type Running, start } from './running.ts';
import { MEMBER } from './stage.ts';

/** Brings about what a step of a trace is. */
export async function play(played: Played, at: number, before: Moment, after: Moment): Promise<void> {
  const { stage, trace, requests } = played;
  const { event, about } = trace.steps[at] as Step;
  const { request = '', connection = '', gate = '', pair = '' } = about;
  const { gates } = stage;
  const own = gate === '' ? before.of('at', request)[0] : gate;
  gates.unheard = (trace.given.Replica ?? []).some((other) => other !== own && !after.has('told', other));
  const lookUps = (trace.given.Replica ?? []).flatMap((name) =>
    before
      .of('fetching', name)
      .filter((one) => !after.of('fetching', name).includes(one))
      .map((one) => `${name} ${one}`),
  );

  switch (event) {
    case 'Drop':
      leave(requests.get(request));
      break;
    case 'Approve':
      await approve(played, connection);
      break;
    case 'Revoke':
      await revoke(played, gate, connection, before);
      break;
    case 'Acknowledge':
    case 'AcknowledgeUnheard':
      await acknowledge(played, `${gate} ${connection}`);
      break;
    case 'Suspend':
      await sendApprovals(played, at);
      await start(played, `${gate} ${about.whom}`, gate, suspension, ({ name }) =>
        command(played, gate, `/members/${MEMBER}/suspend`, name),
      );
      break;
    case 'SuspensionDone':
      await finish(played, `${gate} ${about.whom}`, 200);
      break;
    case 'Hear':
      stage.gate(gate).hear();
      break;
    case 'Fetch':
      await fetchToken(played, gate, pair, before);
      break;
    case 'Fill':
      await finish(played, `${gate} ${pair}`, 200);
      break;
    case 'Tick':
      // A look-up takes less: the store has given up.
      for (const one of lookUps) requests.get(one)?.held.fail();
      await stage.tick();
      break;
    case 'Crash':
      await crash(played, gate);
      break;
    case 'Replicate':
      await gates.copies.replicate();
      break;
    case 'Fail':
      await gates.copies.fail();
      await Promise.all([...requests.values()].filter((one) => !one.gone && one.answer === undefined).map(giveUp));
      break;
    default:
      if (event.startsWith('Look')) await look(played, request, before);
      else await goOn(played, requests.get(request));
      // In the model, a refusal waits for no standby.
      if (after.of('phase', request)[0] === 'Refused') await advanceAfterCommit(requests.get(request));
      if (event === 'AnswerTokens') learn(played, request, before);
  }
  // What found its token active before it was revoked is admitted once, and not remembered.
  const overtaken = ['Fill', 'Tick', 'Crash'].includes(event) ? [] : lookUps;
  for (const one of overtaken) await finish(played, one);
  for (const one of lookUps) requests.delete(one);
}

async function advanceAfterCommit(one: Running | undefined): Promise<void> {
  if (one?.held.stop?.when === 'after') await one.held.advance(one.over);
}

async function crash({ stage, requests, approvals }: Played, gate: string): Promise<void> {
  const own = [...requests.values()].filter((one) => one.gate === gate);
  for (const one of own) leave(one);
  await stage.gate(gate).crash([...own, ...approvals.values()].map(({ held }) => held));
}

async function look(played: Played, request: string, before: Moment): Promise<void> {
  const { stage, connections } = played;
  const [shown = ''] = before.of('shows', request);
  const [gate = ''] = before.of('at', request);
  const ofCode = connections.get(shown);
  const tokens = connections.get(before.of('grant', shown)[0] ?? '')?.tokens.get(shown);
  if (ofCode === undefined && tokens === undefined) throw new Error(`no client has ${shown}`);
  const form = ofCode === undefined ? stage.refreshForm(tokens as Tokens) : stage.codeForm(ofCode);
  await start(played, request, gate, tokenRequest(), ({ name }) =>
    stage.gate(gate).send({ path: '/api/oauth/token', form, fields: { [FIELD]: name } }),
  );
}

/** Takes the tokens of an answer. All answers with this pair have the same ones, and no others have them. */
function learn({ connections, requests }: Played, request: string, before: Moment): void {
  const [pair = ''] = before.of('gives', request);
  const body = requests.get(request)?.answer?.body as unknown as Tokens;
  const tokens = connections.get(before.of('grant', pair)[0] ?? '')?.tokens;
  const known = tokens?.get(pair);
  if (known !== undefined && known.refresh_token !== body.refresh_token)
    throw new Error('it got other tokens than the first time');
  for (const [other, { refresh_token }] of tokens ?? [])
    if (other !== pair && refresh_token === body.refresh_token) throw new Error(`it got the tokens of ${other}`);
  tokens?.set(pair, body);
}

async function approve({ stage, trace, connections, approvals }: Played, name: string): Promise<void> {
  const connection = connections.get(name);
  if (connection === undefined) throw new Error('there is no such connection');
  const sent = approvals.get(name);
  if (sent === undefined) await stage.approve(connection);
  else {
    await sent.held.advance(sent.over);
    await sent.over;
    approvals.delete(name);
  }
  // Its commits wait for the standby.
  if ((trace.given.Durable ?? []).length > 0) await stage.gates.copies.replicate();
}

/** An approval after a suspension is one that was read before it, and is committed after it. */
async function sendApprovals({ stage, trace, connections, approvals }: Played, at: number): Promise<void> {
  for (const { event, about } of trace.steps.slice(at)) {
    const connection = connections.get(about.connection ?? '');
    if (event !== 'Approve' || about.connection === undefined || connection === undefined) continue;
    const held = heldFor(`approval ${about.connection}`, approval);
    const over = stage.approve(connection, held.name);
    over.catch(() => undefined);
    approvals.set(about.connection, { held, over });
    await held.advance(over);
  }
}

/** By the suspension of its member, by its app, or, if that has no tokens, by the operator. */
async function revoke(played: Played, gate: string, name: string, before: Moment): Promise<void> {
  const { stage, connections, requests } = played;
  const [whom] = before.of('cutting', gate);
  const suspending = requests.get(`${gate} ${whom}`);
  if (suspending !== undefined) {
    for (let times = 0; times < 3 && !isEnding(suspending); times += 1) await goOn(played, suspending);
    requests.set(`${gate} ${name}`, suspending);
    return;
  }
  const connection = connections.get(name);
  const newest = [...(connection?.tokens.values() ?? [])].at(-1);
  const { server, client } = stage.app;
  await start(played, `${gate} ${name}`, gate, revocation, ({ name: field }) => {
    if (newest === undefined) return command(played, gate, `/grants/${connection?.id}/revoke`, field);
    const form = { client_id: client.client_id, token: newest.refresh_token };
    const { pathname } = new URL(server.revocation_endpoint ?? '');
    return stage.gate(gate).send({ path: pathname, form, fields: { [FIELD]: field } });
  });
}

async function acknowledge(played: Played, name: string): Promise<void> {
  const one = played.requests.get(name);
  const isSuspension = [...played.requests].some(([other, same]) => same === one && other.includes(' Member'));
  if (isSuspension) await goOn(played, one);
  else await finish(played, name, 200);
  played.requests.delete(name);
}

async function fetchToken(played: Played, gate: string, pair: string, before: Moment): Promise<void> {
  const token = played.connections.get(before.of('grant', pair)[0] ?? '')?.tokens.get(pair);
  if (token === undefined) throw new Error(`no client has ${pair}`);
  await start(played, `${gate} ${pair}`, gate, lookUp, ({ name }) =>
    played.stage.gate(gate).send({ path: '/api/v1/whoami', fields: { ...bearer(token.access_token), [FIELD]: name } }),
  );
}

function command({ stage }: Played, gate: string, path: string, name: string) {
  return { answer: stage.command(stage.gate(gate), path, name) as Promise<Answer>, abort: () => undefined };
}
