import { z } from 'zod';
import type { UntracedProblem } from '../config/problems.ts';
import { type Tree, valueAt } from '../config/tree.ts';
import { DETAIL_NAMES } from '../oauth/member-details.ts';
import { bridgeLogin } from './bridge/settings.ts';
import { databaseLogin } from './database/settings.ts';
import { directoryLogin } from './directory/settings.ts';
import { formLogin } from './form/settings.ts';
import { checkTrustedProxies, headerLogin } from './header/settings.ts';
import { jwtCookieLogin } from './jwt-cookie/settings.ts';
import { oidcLogin } from './oidc/settings.ts';
import { sessionLogin } from './session/settings.ts';
import { webhookLogin } from './webhook/settings.ts';

type Setting = readonly string[];

/** What the gate has to know about a way to sign in, besides its settings. */
interface LoginKindFacts {
  /** The setting with the page of the site on which members sign in: a path or a URL. */
  readonly page?: Setting;
  /** The setting with the names of the cookies that identify a member. */
  readonly cookies?: Setting;
  /** The settings with the names of request headers that identify a member. */
  readonly identityFields?: readonly Setting[];
  /** Whether the cookies are a session at the backend, which an upstream's `credential` can keep. */
  readonly keepsSession?: true;
  /** Whether its answer about a member can be JSON, from which custom claims are read. */
  readonly answersInJson?: true;
  /** Checks across settings. Takes the merged settings before they are validated. */
  readonly check?: (tree: Tree) => readonly UntracedProblem[];
}

/** The ways to sign in, by `login.kind`: the settings of each, and what else the gate has to know about it. */
const KINDS = [
  { settings: sessionLogin, page: ['loginUrl'], cookies: ['cookies'], keepsSession: true, answersInJson: true },
  { settings: bridgeLogin, page: ['url'] },
  { settings: directoryLogin },
  { settings: webhookLogin, answersInJson: true },
  { settings: formLogin, answersInJson: true },
  { settings: oidcLogin },
  {
    settings: headerLogin,
    identityFields: [['user'], ...DETAIL_NAMES.map((detail) => [detail]), ['jwt', 'header']],
    check: checkTrustedProxies,
  },
  { settings: databaseLogin },
  { settings: jwtCookieLogin, page: ['loginUrl'], cookies: ['jwt', 'cookie'], answersInJson: true },
] as const satisfies readonly (LoginKindFacts & { readonly settings: z.ZodObject })[];

/** How members sign in, by `kind`. */
export const login = z.discriminatedUnion(
  'kind',
  KINDS.map(({ settings }) => settings) as unknown as SettingsOf<typeof KINDS>,
);

type SettingsOf<Kinds extends readonly { readonly settings: unknown }[]> = {
  -readonly [Index in keyof Kinds]: Kinds[Index]['settings'];
};

export type LoginConfig = z.output<typeof login>;

const FACTS: ReadonlyMap<unknown, LoginKindFacts> = new Map(
  KINDS.map(({ settings, ...facts }) => [settings.shape.kind.value, facts]),
);

const NONE: LoginKindFacts = {};

/** The kinds whose answer about a member can be JSON. */
export const JSON_LOGINS = [...FACTS].filter(([, { answersInJson }]) => answersInJson).map(([kind]) => String(kind));

/** What is known of the configured way to sign in. Takes the merged settings before they are validated. */
export function loginFacts(tree: Tree): LoginKindFacts {
  return FACTS.get(valueAt(tree, ['login', 'kind'])) ?? NONE;
}

/** Checks across settings that belong to the configured way to sign in. */
export function checkLogin(tree: Tree): readonly UntracedProblem[] {
  return loginFacts(tree).check?.(tree) ?? [];
}

/** The page of the site on which members sign in: a path or a URL. Undefined if they sign in on a page of the gate. */
export function loginPage(config: LoginConfig): string | undefined {
  return textsAt(config, [factsOf(config).page])[0];
}

/** Names of the cookies of the site that identify a member; `*` matches any number of characters. */
export function loginCookies(config: LoginConfig): readonly string[] {
  return textsAt(config, [factsOf(config).cookies]);
}

/** The request headers that identify a member. They are removed from requests to backends. */
export function identityFields(config: LoginConfig): readonly string[] {
  return textsAt(config, factsOf(config).identityFields ?? []);
}

const factsOf = ({ kind }: LoginConfig) => FACTS.get(kind) ?? NONE;

function textsAt(config: LoginConfig, settings: readonly (Setting | undefined)[]): readonly string[] {
  const values = settings.flatMap((setting) => (setting === undefined ? [] : valueAt(config, setting)));
  return values.filter((value) => typeof value === 'string');
}
