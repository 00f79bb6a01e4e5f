import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GraphiqlOptions, graphiqlPage, graphiqlPolicy } from './page.ts';

interface Asset {
  readonly type: string;
  /** Path of the file. Throws MODULE_NOT_FOUND if its package is not installed. */
  readonly file: () => string;
}

/** The response for one of `GRAPHIQL_PATHS`. */
export interface GraphiqlFile {
  readonly status: 200 | 404;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

/**
 * Every file that the page loads, from this folder or from the builds for script elements in the installed packages.
 */
const ASSETS: Readonly<Record<string, Asset>> = {
  '/graphiql/react.js': { type: SCRIPT, file: shipped('react', 'umd/react.production.min.js') },
  '/graphiql/react-dom.js': { type: SCRIPT, file: shipped('react-dom', 'umd/react-dom.production.min.js') },
  '/graphiql/vendor.js': { type: SCRIPT, file: shipped('graphiql', 'graphiql.min.js') },
  '/graphiql/vendor.css': { type: STYLE, file: shipped('graphiql', 'graphiql.min.css') },
  '/graphiql/page.js': { type: SCRIPT, file: () => fileURLToPath(new URL('graphiql.js', import.meta.url)) },
  '/graphiql/page.css': { type: STYLE, file: () => fileURLToPath(new URL('graphiql.css', import.meta.url)) },
};

/** The paths of the page and of what it loads. */
export const GRAPHIQL_PATHS: readonly string[] = ['/graphiql', ...Object.keys(ASSETS)];

const GUARDED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const NO_ACCOUNT_API = 'GraphiQL is for the Account API, which this gate does not have.';
const NOT_INSTALLED = 'GraphiQL is not installed here. Install it with:  npm ci --include=optional';

/**
 * Serves GraphiQL for developers who write against the Account API; `options` is undefined without an Account API. No
 * file is read before it is requested, and no token is ever sent here: the page sends it directly to the API endpoint.
 * Rejects if an installed file cannot be read.
 */
export async function graphiqlFile(path: string, options: GraphiqlOptions | undefined): Promise<GraphiqlFile> {
  if (options === undefined) return absent(NO_ACCOUNT_API);
  try {
    const asset = ASSETS[path];
    // The page needs all of them: with one missing, it would stay blank without an error.
    for (const { file } of Object.values(ASSETS)) file();
    if (asset === undefined) {
      const headers = { ...GUARDED, 'content-security-policy': graphiqlPolicy(options) };
      return { status: 200, contentType: 'text/html; charset=utf-8', text: graphiqlPage(options), headers };
    }
    return { status: 200, contentType: asset.type, text: await readFile(asset.file(), 'utf8'), headers: GUARDED };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // A partial installation counts as not installed.
    if (code === 'MODULE_NOT_FOUND' || code === 'ENOENT') return absent(NOT_INSTALLED);
    throw thrown;
  }
}

function absent(text: string): GraphiqlFile {
  return { status: 404, contentType: PLAIN, text, headers: GUARDED };
}

/** Resolves by package.json, because the builds for script elements are not among the package's exports. */
function shipped(name: string, file: string): () => string {
  return () => join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
}
