import type { JsonObject } from '../../../http/json-object.ts';
import type { SiteAnswer } from '../answer.ts';
import type { Question } from '../ask.ts';
import type { Find } from '../check.ts';
import type { Registered, TriedRegistration } from '../registrations.ts';

/** One of the addresses at which clients look for authorization server metadata. */
export interface ServerSpelling {
  readonly url: string;
  readonly answer: SiteAnswer | undefined;
  readonly document: JsonObject | undefined;
}

export interface ServerSpellings {
  /** The issuer as the resource lists it. */
  readonly issuer: string;
  /** That of RFC 8414 first. */
  readonly spellings: readonly ServerSpelling[];
}

/** An authorization server whose metadata was found. */
export interface ExaminedServer extends ServerSpellings {
  readonly answer: SiteAnswer;
  readonly document: JsonObject;
}

/** Registers the audit's app with changed metadata. */
export type Register = (changes?: object) => Promise<TriedRegistration>;

/** The response to an authorization request. */
export interface AuthorizationAnswer {
  readonly answer: SiteAnswer;
  /** Whether the member would continue as with a valid request. */
  readonly goesOn: boolean;
  /** The parameters returned to the app in the query or fragment, if any. */
  readonly returned: URLSearchParams | undefined;
}

export type Parameters = Readonly<Record<string, string | undefined>>;

/** An authorization endpoint, called as the audit's client. */
export interface AuthorizationEndpoint {
  /** A valid request. */
  readonly good: AuthorizationAnswer;
  /** The valid request with changed parameters; undefined removes one. */
  request(changes: Parameters): Promise<AuthorizationAnswer>;
}

/** The MCP endpoint, and its response to the initialize request of a 2025-11-25 client without a token. */
export interface ExaminedMcpEndpoint {
  readonly url: string;
  readonly answer: SiteAnswer;
}

/** A protected address, and its responses without a token and with a token that was never issued. */
export interface ProtectedEndpoint {
  readonly url: string;
  readonly question: Question;
  readonly none: SiteAnswer;
  readonly bad: SiteAnswer;
}

/** One spelling of a metadata address, and its response. */
export interface WellKnown {
  /** The path of the resource. */
  readonly path: string;
  /** As RFC 9728 section 3.1 specifies it, or appended to the resource's path, as some servers do. */
  readonly spelling: 'inserted' | 'appended';
  readonly url: string;
  /** Undefined when the server did not answer. */
  readonly answer: SiteAnswer | undefined;
}

/** A protected resource document that exists. */
export interface ResourceDocument {
  /** The path of the resource for which it was requested. */
  readonly path: string;
  /** The resource for which it was requested, which it must name exactly. */
  readonly resource: string;
  readonly answer: SiteAnswer;
  readonly document: JsonObject;
}

/** What checks build on. Each fact is determined once and shared. */
export interface Facts {
  /** Every requested spelling of the protected resource metadata, with its response. */
  readonly wellKnown: readonly WellKnown[];
  /** The protected resource documents that exist (RFC 9728). */
  readonly resources: readonly [ResourceDocument, ...ResourceDocument[]];
  /** Every spelling of the authorization server metadata, with its response. */
  readonly serverSpellings: ServerSpellings;
  /** The authorization server that the resource names. */
  readonly server: ExaminedServer;
  readonly mcp: ExaminedMcpEndpoint;
  /** Protected addresses. */
  readonly protectedEndpoints: readonly [ProtectedEndpoint, ...ProtectedEndpoint[]];
  /** The registration endpoint, if the audit may use it. */
  readonly registration: Register;
  /** A public client with a loopback redirect, registered for the audit. */
  readonly client: Registered;
  /** The authorization endpoint with that client, if it checks requests before the sign-in. */
  readonly authorization: AuthorizationEndpoint;
}

export type FactFinder = Find<Facts>;
