import type { RequestHandler, Router } from 'express';
import { type Html, html, htmlDocument } from '../../http/html.ts';
import { palette } from '../../http/palette.ts';
import { codePath, readInstalled } from '../../installation.ts';

// No form-action: browsers apply it to every redirect after a form's POST, and both sites send people to each other and
// through the gate that way.
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sets the headers of every page of the demo's two sites. Pages contain names and form tokens: they are not stored. */
export const pageHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    // Not no-referrer: browsers would then send `Origin: null` with forms, which the sample app refuses.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  next();
};

/** The text of a file in the demo's folder, such as `school/style.css`. */
export function asset(name: string): string {
  return readInstalled(codePath(`operator/demo/${name}`)).toString('utf8');
}

/**
 * Serves the stylesheet in a site's folder, in the colours of the members' pages with `colour`, and its icon. Browsers ask for
 * /favicon.ico by themselves, on all pages.
 */
export function addAssets(router: Router, folder: string, colour: string): void {
  const serve = (path: string, file: string, text: string) => {
    router.get(path, (_request, response) => {
      response.set('cache-control', 'public, max-age=300').type(file).send(text);
    });
  };
  serve('/style.css', 'style.css', palette(colour) + asset(`${folder}/style.css`));
  serve('/favicon.ico', 'icon.svg', asset(`${folder}/icon.svg`));
}

/** A complete page with the stylesheet of its site. */
export function documentOf(title: string, body: Html): string {
  return htmlDocument({ title, head: html`<link rel="stylesheet" href="/style.css">`, body });
}
