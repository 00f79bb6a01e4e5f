import type { DiscoveryDocuments } from '../../../process/discovery-documents.ts';
import { gatewayFile } from '../snippets/gateway-file.ts';
import { inDoubleQuotes } from '../snippets/nginx-text.ts';
import { escaped } from '../snippets/segment-expression.ts';

type Fields = Readonly<Record<string, string>>;

/** A document and the file that it is written to, relative to the folder. */
interface Placed {
  readonly path: string;
  readonly file: string;
  readonly headers: Fields;
}

const FIRST_LINE = '# Written by `coursegate export`.';
const WELL_KNOWN = '.well-known/';

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
  const documents = placed.map(({ path, file, headers: { 'content-type': type = '', ...fields } }) => ({
    ...{ path, file, type },
    fields: listed(fields),
  }));
  const view = { firstLine: FIRST_LINE, folder, documents, preflight: listed(preflight) };
  return gatewayFile('nginx/documents.conf', view, inDoubleQuotes);
}

/** `.well-known/.htaccess` for Apache and LiteSpeed. */
export function wellKnownHtaccess(placed: readonly Placed[], preflight: DiscoveryDocuments['preflight']): string {
  const inside = placed.filter(({ file }) => file.startsWith(WELL_KNOWN));
  const below = inside.map((one) => ({ ...one, file: one.file.slice(WELL_KNOWN.length) }));
  const moved = below.flatMap(({ path, file }) => {
    const name = path.slice(WELL_KNOWN.length + 1);
    return name === file ? [] : [{ from: `^${escaped(name)}$`, file }];
  });
  return htaccess('Needs AllowOverride FileInfo, mod_headers and mod_rewrite.', below, preflight, moved);
}

/** Lines for the `.htaccess` of the site, for the documents that are not in `.well-known`. */
export function siteHtaccess(placed: readonly Placed[], preflight: DiscoveryDocuments['preflight']): string {
  const outside = placed.filter(({ file }) => !file.startsWith(WELL_KNOWN));
  return htaccess('Add these lines to the .htaccess of the folder with the documents.', outside, preflight);
}

/** What a GET and a preflight need: the latter's fields do no harm in an answer to a GET. */
function htaccess(
  note: string,
  placed: readonly Placed[],
  preflight: DiscoveryDocuments['preflight'],
  moved: readonly { readonly from: string; readonly file: string }[] = [],
): string {
  const documents = placed.map(({ file, headers: { 'content-type': type = '', ...fields } }) => ({
    ...{ file, type },
    fields: listed({ ...preflight, ...fields }).map(({ name, value }) => ({
      name,
      value: value.replaceAll('%', '%%'),
    })),
  }));
  const view = { firstLine: FIRST_LINE, note, documents, moved, rewritten: moved.length > 0 };
  return gatewayFile('apache/documents.htaccess', view, inDoubleQuotes);
}

function listed(fields: Fields) {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}
