import type { DiscoveryDocuments } from '../../../process/discovery-documents.ts';
import { block, quoted } from '../snippets/nginx-text.ts';
import { escaped } from '../snippets/segment-expression.ts';

/** A document and the file that it is written to, relative to the folder. */
interface Placed {
  readonly path: string;
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

const FIRST_LINE = '# Written by `coursegate export`.';

/** Whether an older export wrote this text. */
export function isOurs(text: string): boolean {
  return text.startsWith(FIRST_LINE);
}

/**
 * The file for a path. It is the path itself where that can be a file: a document below `/.well-known/NAME` would need
 * a folder in place of the file `NAME`, so its slashes become `+`, which no path of a resource contains.
 */
export function fileOf(path: string): string {
  const [, first = '', second, ...below] = path.split('/');
  if (second === undefined) return first;
  return `${first}/${second}${below.length === 0 ? '' : `+${below.join('+')}.json`}`;
}

/** Lines for nginx: an exact location for each document, to be included in the `server` block of the site. */
export function nginxFile(
  folder: string,
  placed: readonly Placed[],
  preflight: DiscoveryDocuments['preflight'],
): string {
  const locations = placed.map(({ path, file, headers: { 'content-type': type = '', ...fields } }) =>
    block(`location = ${path}`, [
      `root ${quoted(folder)};`,
      'types { }',
      `default_type ${quoted(type)};`,
      `if ($request_method = OPTIONS) { ${added(preflight)} return 204; }`,
      added(fields),
      `try_files /${file} =404;`,
    ]),
  );
  return `${FIRST_LINE} Include it in the server block of the site.\n\n${locations.join('\n')}`;
}

function added(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `add_header ${name} ${quoted(value)} always;`)
    .join(' ');
}

/** `.well-known/.htaccess` for Apache and LiteSpeed. */
export function wellKnownHtaccess(placed: readonly Placed[], preflight: DiscoveryDocuments['preflight']): string {
  const inside = placed.filter(({ file }) => file.startsWith(WELL_KNOWN));
  const elsewhere = inside.filter(({ path, file }) => path !== `/${file}`);
  return [
    `${FIRST_LINE} Needs AllowOverride FileInfo, mod_headers and mod_rewrite.`,
    ...inside.flatMap(({ file, headers }) => files(file.slice(WELL_KNOWN.length), headers, preflight)),
    'RewriteEngine On',
    ...elsewhere.map(({ path, file }) => {
      const name = path.slice(WELL_KNOWN.length + 1);
      return `RewriteRule ${apacheQuoted(`^${escaped(name)}$`)} ${apacheQuoted(file.slice(WELL_KNOWN.length))} [END]`;
    }),
    '',
  ].join('\n');
}

/** Lines for the `.htaccess` of the site, for the documents that are not in `.well-known`. */
export function siteHtaccess(placed: readonly Placed[], preflight: DiscoveryDocuments['preflight']): string {
  const outside = placed.filter(({ file }) => !file.startsWith(WELL_KNOWN));
  return [
    `${FIRST_LINE} Add these lines to the .htaccess of the folder with the documents.`,
    ...outside.flatMap(({ file, headers }) => files(file, headers, preflight)),
    '',
  ].join('\n');
}

const WELL_KNOWN = '.well-known/';

/** What a GET and a preflight need: the latter's fields do no harm in an answer to a GET. */
function files(
  name: string,
  headers: Placed['headers'],
  preflight: DiscoveryDocuments['preflight'],
): readonly string[] {
  const { 'content-type': type = '', ...fields } = headers;
  return [
    `<Files ${apacheQuoted(name)}>`,
    `    ForceType ${apacheQuoted(type)}`,
    ...Object.entries({ ...preflight, ...fields }).map(
      ([field, value]) => `    Header always set ${field} ${apacheQuoted(value.replace(/%/g, '%%'))}`,
    ),
    '</Files>',
  ];
}

function apacheQuoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
