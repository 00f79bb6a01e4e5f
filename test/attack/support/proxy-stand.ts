import { leastCost } from '../../support/pace.ts';
import { PROXY_ROUTES, type ProxyWorld, startProxyWorld } from '../../support/proxy-world.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type StrictRequest, valuesOf } from '../../support/strict-http.ts';
import type { Attempt } from './attempt.ts';
import { exchange, inPieces } from './exchange.ts';
import { cpuMs, judgeResponses, OWN_FAULT, type Stand } from './stand.ts';

export interface ProxyStand extends Stand {
  readonly gate: ProxyWorld;
  readonly upstream: ScriptedUpstream;
  /** Restores the upstream's default response: the record of the member whom the gate names. */
  answerWithRecords(): void;
}

const ROUTES = [
  { match: 'POST /posting/**', upstream: 'back', scopes: ['courses:read'], anonymous: 'refuse' },
  {
    match: 'GET /own/**',
    upstream: 'back',
    scopes: ['courses:read'],
    anonymous: 'refuse',
    query: { user_id: '{member.id}' },
  },
  ...PROXY_ROUTES,
];
const TOOL = { name: 'any', title: 'Any', description: 'Gives it.', get: { upstream: 'back', path: '/public/any' } };

/**
 * The gate between raw sockets and an upstream that reads requests literally. `/member/**` requires a token and allows any
 * method, `GET /reading/**` is for reading with a token, `POST /posting/**` for writing with one, `GET /own/**` for the
 * records of the member in `user_id`, `/public/**` is public, and everything else is the site. The tool `any` is public;
 * its result is the upstream's response.
 */
export async function startProxyStand(profile: string): Promise<ProxyStand> {
  const upstream = await startScriptedUpstream();
  const gate = await startProxyWorld({
    upstream: upstream.url,
    timeout: '1s',
    process: {},
    config: { profile, routes: ROUTES, mcp: { tools: [TOOL], resources: [], prompts: [] } },
  });
  const other = await gate.tokenOf('m-2');
  const pid = gate.process?.pid ?? 0;
  let exited: unknown;
  void gate.process?.exited.then((code) => {
    exited = code;
  });
  const answerWithRecords = () =>
    upstream.script((request, socket) => {
      const body = `record-of-${valuesOf(request.headers, 'x-member-id').join('+') || 'nobody'}`;
      const upgrade = valuesOf(request.headers, 'upgrade').length > 0;
      const head = `HTTP/1.1 ${upgrade ? '403 Forbidden' : '200 OK'}\r\nContent-Length: ${body.length}\r\n`;
      socket.write(`${head}${upgrade ? 'Connection: close\r\n' : ''}\r\n${request.method === 'HEAD' ? '' : body}`);
      if (upgrade) socket.end();
    });
  answerWithRecords();
  // Discards the requests of the sign-in.
  upstream.take();

  const fill = (text: string) =>
    text
      .replaceAll('{ORIGIN}', gate.origin)
      .replaceAll('{HOST}', gate.host)
      .replaceAll('{TOKEN}', gate.token)
      .replaceAll('{OTHER}', other);

  async function attempt(one: Attempt): Promise<readonly string[]> {
    const most = one.expected.maxCpuMs;
    if (most === undefined) return attemptOnce(one);
    const flaws: string[] = [];
    const again = async () => void flaws.push(...(await attemptOnce(one)));
    const spent = await leastCost(most, again, () => cpuMs(pid));
    if (spent > most) flaws.push(`took ${Math.round(spent)} ms of computing in place of ${most}`);
    return flaws;
  }

  async function attemptOnce(one: Attempt): Promise<string[]> {
    const { bytes, cut, halfClose = false, expected } = one;
    const first = one.first === undefined ? undefined : fill(one.first);
    one.before?.();
    const exchanged = await exchange(gate.port, inPieces(fill(bytes), cut), { first, halfClose });
    const flaws = judgeResponses(exchanged, expected);
    let seen: readonly StrictRequest[] = [];
    try {
      seen = upstream.take();
    } catch (error) {
      flaws.push(`the upstream was sent what is no clear request: ${String(error)}`);
    }
    const told = seen.map(({ method, target, body }) => `${method} ${target}${body === '' ? '' : ` ${body}`}`);
    const wanted = (expected.upstream ?? []).map(fill);
    if (JSON.stringify(told.toSorted()) !== JSON.stringify(wanted.toSorted())) {
      flaws.push(`the upstream saw ${JSON.stringify(told)} in place of ${JSON.stringify(wanted)}`);
    }
    const behind = { 'm-1': bytes.includes('{TOKEN}'), 'm-2': bytes.includes('{OTHER}') };
    flaws.push(...seen.flatMap((one) => judgeIdentity(one, behind)));
    for (const [member, present] of Object.entries(behind)) {
      if (!present && exchanged.received.includes(`record-of-${member}`)) flaws.push(`has the record of ${member}`);
    }
    if (exchanged.received.includes(`:${upstream.port}`)) flaws.push('tells where the upstream is');
    if (exited !== undefined) flaws.push(`the process ended with ${String(exited)}`);
    return flaws;
  }

  return {
    profile,
    origin: gate.origin,
    port: gate.port,
    gate,
    upstream,
    answerWithRecords,
    attempt,
    settled: () => (OWN_FAULT.test(gate.log()) ? [`logged ${OWN_FAULT.exec(gate.log())?.[0]}`] : []),
    async close() {
      await gate.close();
      await upstream.close();
    },
  };
}

/** Identity headers by their folded names. Only the gate may set them. */
const IDENTITY = /^(?:x-member-|x-client-id$|x-coursegate-)/;

/** Whether any upstream could read this target as one that requires a token. */
function isProtected(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  let lax = path;
  try {
    lax = decodeURIComponent(path);
  } catch {
    // Not UTF-8: used unchanged.
  }
  return /(?:^|\/)(?:member|reading|posting|own)(?:\/|$)/.test(lax.normalize('NFKC').replaceAll('\\', '/'));
}

function judgeIdentity({ target, headers }: StrictRequest, behind: Readonly<Record<string, boolean>>): string[] {
  const fields = headers.filter(([name]) => IDENTITY.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')));
  const members = fields.filter(([name]) => name.toLowerCase() === 'x-member-id').map(([, value]) => value);
  const flaws: string[] = [];
  const known = members.length === 1 && behind[members[0] ?? ''] === true;
  if (isProtected(target) && !known) flaws.push(`${target} was reached as ${members.join() || 'nobody'}`);
  if (members.length > 0 && !known) flaws.push(`${target} came with the identity ${members.join()}`);
  if (fields.some(([, value]) => value.includes('evil'))) flaws.push(`${target} came with a forged identity`);
  if (valuesOf(headers, 'authorization').some((value) => /bearer|dpop/i.test(value)))
    flaws.push('a token was passed on');
  return flaws;
}
