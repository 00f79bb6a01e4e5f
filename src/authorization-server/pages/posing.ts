import { type Brand, brandIn, isOwnHost } from '../rules/brands.ts';
import { confusableSkeleton } from '../rules/confusables.ts';
import { readingsOf, skeleton, wordsOf } from '../rules/name-skeleton.ts';

/** Whose name an app uses without being theirs: that of the course site, or of a known assistant or company. */
export type Posing = 'school' | Brand;

/** Names that suggest that the course site itself is asking. Compared as whole skeletons. */
const OFFICIAL = [
  ...['admin', 'administrator', 'administration', 'support', 'support team', 'it support', 'help', 'help desk'],
  ...['security', 'security team', 'official', 'staff', 'sign in', 'login', 'account', 'coursegate'],
  ...['administrador', 'administradora', 'administración', 'soporte', 'soporte técnico', 'ayuda', 'seguridad'],
  ...['oficial', 'secretaría', 'cuenta', 'iniciar sesión'],
];

/** From this length on, a course site's name inside an app's name is no coincidence. */
const TELLING = 8;

/** Where an app is, as hosts with their ports. */
export interface AppHosts {
  /** The host of its metadata document, if it has one. */
  readonly document: string | undefined;
  /** The hosts that the browser may be sent to. */
  readonly destinations: readonly string[];
}

/**
 * Whose name an app uses without proof; undefined if no one's. Such a name is still shown, with a warning beside it.
 *
 * A document on a brand's domain proves the name. So does a destination there, because only that host gets the code. An
 * app on the member's device can prove nothing, and is not suspicious for that.
 */
export function posingOf(name: string | undefined, school: string, hosts: AppHosts): Posing | undefined {
  if (name === undefined) return undefined;
  if (isPosing(name, school)) return 'school';
  const brand = brandIn(name);
  if (brand === undefined) return undefined;
  const shown = hosts.document === undefined ? hosts.destinations : [hosts.document];
  return shown.every((host) => isOwnHost(brand, host)) ? undefined : brand;
}

/** Whether an app's name is, or looks like, the name of the course site or of somebody who speaks for it. */
export function isPosing(name: string, school: string): boolean {
  return readingsOf(name).some((given) => readingsOf(school).some((own) => looksLike(given, own)));
}

function looksLike(name: string, school: string): boolean {
  const own = skeleton(school);
  const given = skeleton(name);
  if (own === '' || given === '') return false;
  if (given === own || OFFICIAL_SKELETONS.has(given)) return true;
  if (own.length >= TELLING) return given.includes(own);
  // A sign that looks like a letter does not separate words.
  return [name, confusableSkeleton(name)].some((text) => wordsOf(text).map(skeleton).includes(own));
}

const OFFICIAL_SKELETONS: ReadonlySet<string> = new Set(OFFICIAL.map(skeleton));
