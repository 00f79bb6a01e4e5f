import { type Html, html } from '../../http/html.ts';

/** What is shown of a document that an upstream may have filled with thousands of operations. */
const MOST_OPERATIONS = 500;

interface Operation {
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly security?: readonly { readonly oauth2?: readonly string[] }[];
}

interface Listed {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Lists the operations of an OpenAPI document that this module wrote: by tag, with the scopes that each needs. */
export function operationList(text: string): Html {
  const { tags, paths } = JSON.parse(text) as Listed;
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const shown = all.slice(0, MOST_OPERATIONS);
  const groups = tags.map((tag) => ({ ...tag, rows: shown.filter(({ operation }) => operation.tags[0] === tag.name) }));
  return html`${groups
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ name, description, rows }) => html`<details>
<summary>${name} (${rows.length}) <span>${description}</span></summary>
<ul class="operations">
${rows.map(
  ({ path, method, operation }) => html`<li><code><b>${method}</b> ${path}</code>
<span>${operation.summary}</span>
<span class="muted">${needs(operation)}</span></li>`,
)}
</ul>
</details>`,
    )}
${all.length > shown.length && html`<p>${all.length - shown.length} more are only in the source text.</p>`}`;
}

function needs({ security = [] }: Operation): Html {
  const [first] = security;
  const [scheme] = Object.keys(first ?? {});
  if (first === undefined || scheme === undefined) return html`No token needed`;
  const scopes = (first.oauth2 ?? []).map((scope) => html` <code>${scope}</code>`);
  const any = scheme === 'oauth2' ? html`Any access token` : html`<code>${scheme}</code>`;
  const token = scopes.length === 0 ? any : html`Token with${scopes}`;
  return security.some((one) => Object.keys(one).length === 0) ? html`${token}, or none` : token;
}
