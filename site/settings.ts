/** What one build of one version is told, through the environment, because VitePress reads its configuration itself. */
export interface Settings {
  /** The folder with the pages of this version, as VitePress reads them. */
  readonly staged: string;
  /** The files of the repository that are pages, and the page each becomes. */
  readonly pages: readonly (readonly [file: string, page: string])[];
  /** Where the files of this version come from. */
  readonly tree: string;
  readonly out: string;
  /** The path of this version on the server, with a slash at both ends. */
  readonly base: string;
  readonly version: Version;
  readonly versions: readonly Version[];
  /** The web address of the repository, or undefined: source files are then named, but not linked. */
  readonly repository: string | undefined;
}

export interface Version {
  /** `1.2.0`, or `next` for what is not released. */
  readonly name: string;
  /** The tag or branch on the code host. */
  readonly ref: string;
  /** The path on the server, with a slash at both ends. */
  readonly base: string;
  /** The addresses of its pages below `base`, so that the menu can lead to the same page of another version. */
  readonly addresses: readonly string[];
}

export const SETTINGS_VARIABLE = 'COURSEGATE_SITE';

/** Reads what build.ts passes on. Throws if VitePress was started without it. */
export function settings(): Settings {
  const text = process.env[SETTINGS_VARIABLE];
  if (text === undefined) throw new Error('start the site with `npm run site`');
  return JSON.parse(text) as Settings;
}
