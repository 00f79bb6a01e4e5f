import { vi } from 'vitest';
import { type App, type AuthorizationRequest, authorizationRequest, bearer, registerApp } from '../../support/app.ts';
import { type Browser, createBrowser, type Page } from '../../support/browser.ts';
import { command } from '../../support/commands.ts';
import { refreshForm, type Tokens } from '../../support/connection.ts';
import { offeredScopes, reachConsent, SAM } from '../../support/member.ts';
import { type Gates, type ReplayedGate, startGates } from './gates.ts';
import { FIELD } from './held-request.ts';

export const MEMBER = 'm-1001';

/** A connection of a trace, and what its app has of it. */
export interface Connection {
  readonly request: AuthorizationRequest;
  readonly page: Page;
  code?: string;
  /** The id of its grant. */
  id?: string;
  readonly tokens: Map<string, Tokens>;
}

/** The gates, an app, and a member with a browser: what all traces use, one after the other. */
export interface Stage {
  readonly gates: Gates;
  readonly app: App;
  readonly gate: (name: string) => ReplayedGate;
  /** A connection at its consent page. */
  consenting(): Promise<Connection>;
  /** Approves it. `name` names the requests of the browser. */
  approve(connection: Connection, name?: string): Promise<void>;
  /** The form of a token request. */
  codeForm(connection: Connection): Record<string, string>;
  refreshForm(tokens: Tokens): Record<string, string>;
  /** A command of the operator. */
  command(gate: ReplayedGate, path: string, name?: string): Promise<{ readonly status: number }>;
  /** Sends an access token to a route that accepts any. */
  show(gate: ReplayedGate, token: string, name: string): ReturnType<ReplayedGate['send']>;
  introspect(token: string): Promise<boolean>;
  /** Ends what a trace has left. */
  clear(suspended: boolean): Promise<void>;
  /** Longer than a replay window with its last step, and than the life of a cached answer. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

const TICK = 15_000;

export async function openStage(): Promise<Stage> {
  const gates = await startGates(() => Date.now());
  const app = await registerApp(gates.origin);
  const [first, second] = gates.gates;
  const fields: Record<string, string> = {};
  const browser: Browser = createBrowser(fields);
  const path = (url: string | undefined) => new URL(url ?? '').pathname;
  const stage: Stage = {
    gates,
    app,
    gate: (name) => (name === 'Replica0' ? first : second),
    async consenting() {
      const request = await authorizationRequest(app);
      const { page } = await reachConsent(request.url, SAM, browser);
      return { request, page, tokens: new Map() };
    },
    async approve(connection, name) {
      if (name !== undefined) fields[FIELD] = name;
      const submitted = browser.submit(
        connection.page,
        { decision: 'approve', scope: offeredScopes(connection.page) },
        (location) => !location.startsWith(app.redirectUri),
      );
      const { location, text } = await submitted.finally(() => delete fields[FIELD]);
      const code = location === undefined ? null : new URL(location).searchParams.get('code');
      if (code === null) throw new Error(`the approval gave no code: ${location} ${text.slice(0, 300)}`);
      connection.code = code;
      const entry = await gates.copies.primary().get('AuthorizationCode', code);
      connection.id = String((JSON.parse(entry?.payload ?? '{}') as { grantId?: string }).grantId);
    },
    codeForm: ({ code = '', request }) => ({
      grant_type: 'authorization_code',
      client_id: app.client.client_id,
      code,
      redirect_uri: app.redirectUri,
      code_verifier: request.verifier,
      resource: app.resource,
    }),
    refreshForm: ({ refresh_token }) => refreshForm(app, refresh_token) as Record<string, string>,
    command: (gate, commanded, name) =>
      command(gate.admin(), commanded, { fields: name === undefined ? {} : { [FIELD]: name } }),
    show: (gate, token, name) => gate.send({ path: '/api/v1/whoami', fields: { ...bearer(token), [FIELD]: name } }),
    async introspect(token) {
      const form = { client_id: app.client.client_id, token };
      const { answer } = first.send({ path: path(app.server.introspection_endpoint), form });
      const { status, body } = await answer;
      if (status !== 200) throw new Error(`introspection: ${status}`);
      return body.active === true;
    },
    async clear(suspended) {
      gates.unheard = false;
      if (suspended) await stage.command(first, `/members/${MEMBER}/resume`);
      await stage.command(first, `/members/${MEMBER}/revoke`);
      for (const gate of gates.gates) gate.hear();
      await gates.copies.replicate();
      // After a token request that failed, replay windows stay open until one window after the store was written.
      for (let ticks = 0; ticks < 2; ticks += 1) await stage.tick();
    },
    async tick() {
      await vi.advanceTimersByTimeAsync(TICK);
    },
    close: () => gates.close(),
  };
  return stage;
}
