import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';

export interface ErrorView {
  readonly school: string;
  readonly heading: string;
  /** What happened and what to do, in plain words. */
  readonly message: string;
  /** The code a developer looks for, and the request's id for the log. */
  readonly code: string;
  readonly requestId: string;
}

export function errorPage(view: ErrorView): Page {
  return {
    id: 'error',
    school: view.school,
    title: view.heading,
    body: html`
<h1>${view.heading}</h1>
<p>${view.message}</p>
<p class="muted">For whoever looks into it: <code>${view.code}</code>, request <code>${view.requestId}</code>.</p>`,
  };
}
