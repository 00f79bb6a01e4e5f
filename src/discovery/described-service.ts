import type { Translatable } from '../config/pages.ts';
import type { Config, RouteConfig } from '../config/schema.ts';
import type { Voice } from '../errors.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import type { Scope } from '../oauth/scope.ts';

/** What the generated documents need to know about the running service. They use nothing else. */
export interface DescribedService {
  readonly config: Config;
  /** Paths of the authorization server. */
  readonly endpoints: Endpoints;
  /** The scopes that the metadata of the origin lists: what reading needs. */
  readonly offered: readonly string[];
  /** The MCP server; undefined when there is none. */
  readonly mcp: DescribedTools | undefined;
}

type Endpoints = Readonly<
  Record<
    | 'authorization'
    | 'pushedAuthorization'
    | 'token'
    | 'userinfo'
    | 'revocation'
    | 'introspection'
    | 'registration'
    | 'jwks'
    | 'authorizationServerMetadata'
    | 'openidConfiguration',
    string
  >
>;

interface DescribedTools {
  /** Paths of the endpoint that is open to all callers, and of the one that always requires a token. */
  readonly open: string;
  readonly member: string;
  readonly tools: readonly {
    readonly name: string;
    readonly scopes: Scope;
    readonly descriptor: { readonly title: string };
  }[];
}

/** One entry of the route table, as far as it is described. */
export interface RunningRoute {
  /** Undefined: all methods. */
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
  readonly value: {
    readonly protection: 'public' | RouteProtection;
    readonly voice: Voice;
    /** The operator's configuration of the route, if it is a configured one. */
    readonly entry?: RouteConfig | undefined;
  };
}

export interface RouteProtection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  readonly anonymous: 'refuse' | 'serve';
}

/** An operator's text for developers: in English, or else in the first language it is given in. */
export function textOf(text: Translatable): string {
  if (typeof text === 'string') return text;
  return text.en ?? Object.values(text).find((one) => one !== undefined) ?? '';
}
