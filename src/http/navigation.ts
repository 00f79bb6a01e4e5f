import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser opens the address, instead of a script's fetch, an image or a form that a script sends. No script
 * can forge or leave out the fields (Fetch Metadata Request Headers, section 2). Browsers send them all, since 2020; a
 * client that sends no destination is no browser: the fetch of Node.js sends `Sec-Fetch-Mode: cors` alone.
 *
 * @param windowOnly - also requires that the browser itself opens it, in a whole window: not a frame, and not a service
 * worker, which asks with an empty destination for the navigations that it handles
 */
export function isNavigation({ headers }: Pick<IncomingMessage, 'headers'>, windowOnly: boolean): boolean {
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest } = headers;
  if (dest === undefined) return !windowOnly || mode === 'navigate';
  return mode === 'navigate' && (!windowOnly || dest === 'document');
}

/** The request fields that decide whether an address for programs answers with a page. */
export const PAGE_VARIES = 'Accept, Sec-Fetch-Mode';

/**
 * Whether a browser opens an address in order to show it: it navigates, and accepts HTML and none of the types that
 * only programs ask for. Programs that send `Accept: text/html`, as Java's HttpURLConnection does, say no mode. With
 * `?raw`, an address always answers as it answers programs.
 *
 * @param unsaid - the mode of a request that says none
 */
export function opensPage({ method, headers, url }: IncomingMessage, unsaid?: 'navigate'): boolean {
  const { accept = '', 'sec-fetch-mode': mode = unsaid } = headers;
  return (
    mode === 'navigate' &&
    (method === 'GET' || method === 'HEAD') &&
    url?.endsWith('?raw') !== true &&
    /\btext\/html\b/i.test(accept) &&
    !/\b(?:text\/event-stream|application\/json)\b/i.test(accept)
  );
}
