import { connect, createServer, type Socket } from 'node:net';
import { startSchool } from '../../../src/operator/demo/school.ts';
import { gateProcess } from '../../faults/gate-process.ts';
import { type App, registerApp } from '../../support/app.ts';
import { connect as connectApp } from '../../support/connection.ts';
import { OLU } from '../../support/member.ts';
import type { Attempt } from './attempt.ts';
import { exchange, inPieces } from './exchange.ts';
import { judgeResponses, OWN_FAULT, type Stand } from './stand.ts';

export interface SchoolStand extends Stand {
  readonly admin: string;
  /** An app that both members have approved for every scope that the attempts need. */
  readonly app: App;
  readonly token: string;
  readonly other: string;
  readonly pid: number;
  /** The folder of its store. */
  readonly data: string;
}

/** Text that occurs only in the records of a member. */
const RECORDS = { TOKEN: /m-1001|student@example\.com/, OTHER: /m-1002|other@example\.com/ } as const;

/**
 * The demo: the gate as a process in front of the school, with its Account API and its tools. A relay between them counts
 * the bytes sent to the school. Each attempt comes from its own address, so that it is not affected by the rate limit of
 * the previous one. In `expected.upstream`, `some` means that the school was called, `maybe` that it may have been.
 */
export async function startSchoolStand(profile: string): Promise<SchoolStand> {
  let issuer = '';
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer, jwksUrl: `${issuer}/.well-known/jwks.json` }),
  });
  const relay = await startCountingRelay(Number(new URL(school.urls.school).port));
  const gate = await gateProcess({ profile, school: { ...school, urls: { ...school.urls, school: relay.url } } });
  issuer = gate.origin;
  await gate.start();
  let exited: unknown;
  void gate.exited().then((code) => {
    exited = code;
  });
  const app = await registerApp(gate.origin);
  const scope = 'openid profile email account:read account:write courses:read orders:read';
  const { access_token: token } = await connectApp(app, { parameters: { scope } });
  const { access_token: other } = await connectApp(app, { parameters: { scope }, member: OLU });
  const { port, host } = new URL(gate.origin);
  const adminPort = Number(new URL(gate.admin).port);
  const fill = (text: string) =>
    text
      .replaceAll('{ORIGIN}', gate.origin)
      .replaceAll('{HOST}', host)
      .replaceAll('{TOKEN}', token)
      .replaceAll('{OTHER}', other);
  let turn = 0;

  async function attempt(one: Attempt): Promise<readonly string[]> {
    const { bytes, cut, halfClose = false, expected, to } = one;
    one.before?.();
    turn += 1;
    const from = one.from ?? `127.${10 + (turn >> 16)}.${(turn >> 8) & 255}.${turn & 255 || 1}`;
    const before = relay.received();
    const exchanged = await exchange(to === 'admin' ? adminPort : Number(port), inPieces(fill(bytes), cut), {
      halfClose,
      from,
    });
    const flaws = judgeResponses(exchanged, expected);
    const asked = relay.received() !== before;
    const mayAsk = expected.upstream?.includes('maybe') === true;
    if (!mayAsk && asked !== (expected.upstream !== undefined))
      flaws.push(`the school was ${asked ? '' : 'not '}asked`);
    for (const [placeholder, record] of Object.entries(RECORDS)) {
      if (!bytes.includes(`{${placeholder}}`) && record.test(exchanged.received))
        flaws.push(`has a record of ${placeholder}`);
    }
    if (exited !== undefined) flaws.push(`the process ended with ${String(exited)}`);
    return flaws;
  }

  return {
    profile,
    origin: gate.origin,
    admin: gate.admin,
    port: Number(port),
    pid: gate.pid(),
    data: gate.data,
    app,
    token,
    other,
    attempt,
    settled: () => (OWN_FAULT.test(gate.output()) ? [`logged ${OWN_FAULT.exec(gate.output())?.[0]}`] : []),
    async close() {
      await gate.close();
      await relay.close();
      await school.close();
    },
  };
}

/** Forwards bytes to a port of this machine, and counts those sent to it. */
async function startCountingRelay(to: number) {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((incoming) => {
    const outgoing = connect(to, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
    incoming.on('data', (chunk) => {
      count += chunk.length;
    });
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    received: () => count,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
