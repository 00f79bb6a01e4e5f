import type { DocumentNetwork } from '../../../authorization-server/client-documents/network.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Login } from '../../../login/connector.ts';
import type { Trial } from '../../../upstream/assertion-trial.ts';
import type { CallUpstream, UpstreamRequest } from '../../../upstream/request.ts';
import type { ConnectError } from '../../connect/connect-error.ts';
import type { MemberConnection } from '../../connect/connection.ts';
import type { SiteAnswer } from '../answer.ts';
import type { ExchangeLimits } from '../unavailable.ts';
import type { BackendPages } from './pages.ts';

/** The admin listener of the running gate. */
export interface AdminAccess {
  readonly address: string;
  /** Sends an unsigned GET. Rejects when no gate answers. */
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Sends a signed command. Rejects when it is refused, or no gate answers. */
  command<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T>;
}

/** One sign-in of a member through the running gate, in the operator's browser. */
export interface TriedSignIn {
  /** The connection that came of it, or why none did. */
  readonly outcome: MemberConnection | ConnectError;
  /** Failed sign-ins that the gate has counted meanwhile, of all members, by reason. */
  readonly refused: (reason: string) => number;
  /** Ends the connection, once. Resolves to the ids of clients that could not be deleted. */
  close(): Promise<readonly string[]>;
}

/** The sign-in page as a browser without cookies sees it. */
export interface SignInPage {
  /** Where members are sent. */
  readonly url: URL;
  /** The page, and the redirects that led to it. */
  readonly answers: readonly [SiteAnswer, ...SiteAnswer[]];
  /** A text in the address to return to that occurs nowhere else. */
  readonly mark: string;
}

export interface InstallationFacts {
  /** The answer of whoami to a request without cookies. */
  anonymous(): Promise<SiteAnswer>;
  /** The answer of whoami to a request with an invented session cookie. */
  stranger(): Promise<SiteAnswer>;
  /** Throws Unavailable if the login has no page to send members to. */
  signInPage(): Promise<SignInPage>;
  /** What the upstreams make of assertions. Throws Unavailable if no running gate can try it. */
  trials(): Promise<readonly Trial[]>;
}

/** A configuration with what it connects to, used as the gate would use it. */
export interface Installation {
  readonly loaded: LoadedConfig;
  readonly config: LoadedConfig['config'];
  readonly admin: AdminAccess;
  /** The ID of a member, for the checks that need one. */
  readonly member: string | undefined;
  /** A sign-in of the operator as a member; undefined if there was none. */
  readonly signIn: TriedSignIn | undefined;
  /** Lists the tools of upstreams' MCP servers. Resolves to the names of those that are not as they were approved. */
  readonly changedTools?: (() => Promise<readonly string[]>) | undefined;
  /** The way to sign in. */
  readonly login: Login;
  /** Calls upstreams like the gate, without counting failures. */
  readonly call: CallUpstream;
  /** The upstreams whose root did not answer. They are not called again. */
  readonly silent: ReadonlySet<string>;
  /** The silent upstream that a check has tried to call since the last time; undefined if it has not. */
  takeMissed(): string | undefined;
  /** Sends a request to an upstream. Throws NoAnswer, and Unavailable for one that is silent. */
  send(request: UpstreamRequest): Promise<SiteAnswer>;
  /** Where metadata documents of apps are fetched from. */
  readonly network: DocumentNetwork;
  readonly limits: ExchangeLimits;
  /** Opens pages as a browser without cookies. */
  readonly pages: BackendPages;
  /** What several checks build on. Each is determined once. */
  readonly facts: InstallationFacts;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly now: () => number;
  close(): Promise<void>;
}

export type InstallationOptions = Pick<
  Installation,
  'loaded' | 'admin' | 'member' | 'signIn' | 'changedTools' | 'network' | 'limits' | 'now'
>;
