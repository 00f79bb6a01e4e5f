import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createBrowser, type Page } from '../../../support/browser.ts';
import { command } from '../../../support/commands.ts';
import { offeredScopes, SAM } from '../../../support/member.ts';
import { proofKey, signProof } from '../../../support/proof.ts';
import type { World } from '../../../support/world.ts';

type Values = Readonly<Record<string, string>>;

/** One step of a recorded attempt. `{name}` in a value stands for what an earlier answer said. */
interface RecordedStep {
  /** A request of the app: method and path. */
  readonly app?: string;
  readonly json?: unknown;
  readonly form?: Values;
  readonly headers?: Values;
  readonly dpop?: { readonly ahead: number };
  /** Replaces the user agent of the recording. */
  readonly userAgent?: string;
  /** What the app says is no part of the attempt, such as a registration of another one. */
  readonly aside?: true;
  /** The member's browser opens this path. */
  readonly browser?: string;
  readonly query?: Values;
  readonly member?: 'signs in' | 'signs in without cookies' | 'approves' | 'cancels';
  readonly operator?: 'deletes the app' | 'disables the app' | 'suspends the member' | 'resumes the member';
  /** Seconds that pass. */
  readonly wait?: number;
  readonly remember?: Values;
}

export interface Recording {
  readonly name: string;
  readonly client: string;
  /** Where the failure was reported, or what it was built from. */
  readonly source: string;
  readonly what: string;
  readonly profile: 'A' | 'B';
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly userAgent: string;
  readonly browserAgent?: string;
  /** Of an app that runs on a server; otherwise it has the address of the browser. */
  readonly address?: string;
  readonly documents?: Readonly<Record<string, { readonly status?: number; readonly json?: unknown }>>;
  readonly remember?: Values;
  readonly steps: readonly RecordedStep[];
  readonly expected: { readonly state: string; readonly step: string; readonly cause: string; readonly says: string };
}

const FOLDER = new URL('../recorded/', import.meta.url);

export const RECORDINGS: readonly Recording[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({ name: file.replace('.json', ''), ...JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) }));

export interface Stage {
  readonly world: World;
  readonly pass: (seconds: number) => void;
}

/** What is remembered from JSON answers. */
const REMEMBERED = ['client_id', 'client_secret', 'access_token', 'refresh_token', 'resource'];

let played = 0;

/** Sends the requests of a recording to the gate, from addresses of its own. */
export async function replay(recording: Recording, { world, pass }: Stage): Promise<void> {
  played = (played % 254) + 1;
  const home = `203.0.113.${played}`;
  const verifier = randomBytes(32).toString('base64url');
  const held: Record<string, string> = {
    origin: world.origin,
    resource: world.origin,
    verifier,
    challenge: createHash('sha256').update(verifier).digest('base64url'),
    state: randomBytes(8).toString('hex'),
    ...recording.remember,
  };
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (found, name: string) => held[name] ?? found);
  const filled = (values: Values = {}): Values =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]));
  const browser = createBrowser({
    'x-forwarded-for': home,
    'user-agent': recording.browserAgent ?? 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  });
  const inside = (location: string) => location.startsWith(world.origin);
  let page: Page | undefined;
  const arrive = (next: Page) => {
    page = next;
    const code = next.location === undefined ? null : new URL(next.location).searchParams.get('code');
    if (code !== null) held.code = code;
  };
  const submit = async (fields: Record<string, string | string[]>) =>
    arrive(await browser.submit(page as Page, fields, inside));

  const request = async (step: RecordedStep) => {
    const [method = '', path = ''] = fill(step.app ?? '').split(' ');
    const headers: Record<string, string> = {
      'user-agent': step.userAgent ?? recording.userAgent,
      'x-forwarded-for': recording.address ?? home,
      ...(step.json === undefined ? {} : { 'content-type': 'application/json', accept: 'application/json' }),
      ...filled(step.headers),
    };
    if (step.dpop !== undefined) {
      const iat = Math.floor(Date.now() / 1000) + step.dpop.ahead;
      headers.dpop = await signProof(await proofKey(), { htm: method, htu: world.origin + path, iat });
    }
    // Without a code, no app asks for a token.
    if (JSON.stringify([step.form, step.json]).includes('{code}') && held.code === undefined) return;
    const json = step.json === undefined ? undefined : fill(JSON.stringify(step.json));
    const body = step.form === undefined ? json : new URLSearchParams(filled(step.form));
    const answer = await fetch(world.origin + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (step.aside || !/json/.test(answer.headers.get('content-type') ?? '')) return;
    const said = JSON.parse(text) as Record<string, unknown>;
    for (const name of REMEMBERED) if (typeof said[name] === 'string') held[name] = said[name];
  };
  const visit = async (step: RecordedStep) =>
    arrive(await browser.open(`${world.origin}${step.browser}?${new URLSearchParams(filled(step.query))}`, inside));
  const act = async ({ member }: RecordedStep) => {
    // The request was refused before any page for the member was shown.
    if (page === undefined || page.location !== undefined || !page.text.includes('<form')) return;
    if (member === 'signs in without cookies') forget(browser.cookies);
    if (member?.startsWith('signs in')) await submit({ login: SAM.login, password: SAM.password });
    if (member === 'approves') await submit({ decision: 'approve', scope: offeredScopes(page) });
    if (member === 'cancels') await submit({ decision: 'deny' });
  };
  const operate = async (operator: NonNullable<RecordedStep['operator']>) => {
    const id = encodeURIComponent(held.client_id ?? '');
    const path = {
      'deletes the app': `/clients/${id}/delete`,
      'disables the app': `/clients/${id}/disable`,
      'suspends the member': '/members/m-1001/suspend',
      'resumes the member': '/members/m-1001/resume',
    }[operator];
    const { status, body } = await command(world.admin, path);
    if (status !== 200) throw new Error(`${operator}: ${status} ${JSON.stringify(body)}`);
  };

  for (const step of recording.steps) {
    pass(1);
    if (step.remember !== undefined) Object.assign(held, filled(step.remember));
    else if (step.wait !== undefined) pass(step.wait);
    else if (step.app !== undefined) await request(step);
    else if (step.browser !== undefined) await visit(step);
    else if (step.operator !== undefined) await operate(step.operator);
    else await act(step);
  }
}

/** The cookies of the gate; the school's stay. */
function forget(cookies: Map<string, unknown>): void {
  for (const name of [...cookies.keys()]) if (name.startsWith('coursegate')) cookies.delete(name);
}
