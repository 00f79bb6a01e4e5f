import type { PageLanguage, Translatable } from '../config/pages.ts';
import type { Config, RouteConfig } from '../config/schema.ts';
import type { Voice } from '../errors.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import type { Scope } from '../oauth/scope.ts';

/** What runs, as far as the documents about it need to know: they are written from this and nothing else. */
export interface DescribedService {
  readonly config: Config;
  /** The paths of the authorization server. */
  readonly endpoints: Endpoints;
  /** The tool interface; undefined where there is none. */
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

export interface DescribedTools {
  /** The paths of its two doors: the one for everybody, and the one that asks for a token first. */
  readonly open: string;
  readonly member: string;
  readonly tools: readonly {
    readonly name: string;
    readonly scopes: Scope;
    readonly descriptor: { readonly title: string };
  }[];
}

/** One entry of the running routes table, as far as it is described. */
export interface RunningRoute {
  /** Undefined: every method. */
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
  readonly value: {
    readonly protection: 'public' | RouteProtection;
    readonly voice: Voice;
    /** The operator's words for it, when it is one of theirs. */
    readonly entry?: RouteConfig | undefined;
  };
}

export interface RouteProtection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  readonly anonymous: 'refuse' | 'serve';
}

/** An operator's text for developers: in English, or in the first language that there is one in. */
export function textOf(text: Translatable): string {
  if (typeof text === 'string') return text;
  const english: PageLanguage = 'en';
  return text[english] ?? Object.values(text).find((one) => one !== undefined) ?? '';
}
