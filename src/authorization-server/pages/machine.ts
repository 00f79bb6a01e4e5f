import { type Html, html } from '../../http/html.ts';
import { type MemberPage, titled } from './layout.ts';
import type { Words } from './words.ts';

/** At an address that only apps can use: after a refusal (401), or because it has nothing to GET (405). */
export function appsOnlyPage(words: Words, status: number, documentation: string): MemberPage {
  const body = html`<p>${words.html(status === 401 ? 'machine.protected' : 'machine.endpoint')}</p>
<p>${words.html('machine.connect')}</p>
${forDevelopers(words, documentation)}`;
  return titled(words, 'machine', body, 'machine.title', 'machine.heading');
}

interface AccountView {
  readonly address: string;
  /** A query that every member can send; undefined if only prepared documents are accepted. */
  readonly query: string | undefined;
  readonly documentation: string;
}

/** At the Account API. */
export function accountPage(words: Words, { address, query, documentation }: AccountView): MemberPage {
  const body = html`<p>${words.html('graphql.text')}</p>
${
  query !== undefined &&
  html`<h2>${words.html('graphql.query')}</h2>
<p>${words.html('graphql.query.text')}</p>
<pre class="copy"><code dir="ltr">${query}</code></pre>
<details>
<summary>${words.html('graphql.command')}</summary>
<pre class="copy"><code dir="ltr">${commandFor(address, query)}</code></pre>
</details>`
}
${forDevelopers(words, documentation)}`;
  return titled(words, 'machine', body, 'graphql.title');
}

function commandFor(address: string, query: string): string {
  const body = JSON.stringify({ query: query.replace(/\s+/g, ' ') });
  return `curl ${address} \\
  -H 'Authorization: Bearer <access_token>' \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
}

/** A document for programs, in a form for people. `content` is in English, as the document is. */
export function documentPage(
  words: Words,
  title: 'document.auth.title' | 'document.openapi.title',
  content: Html,
): MemberPage {
  const body = html`<p><a href="?raw">${words.html('document.raw')}</a></p>
<div lang="en" dir="ltr">
${content}
</div>`;
  return titled(words, 'document', body, title);
}

export interface McpView {
  /** The address that asks to sign in. */
  readonly address: string;
  /** The address of the public tools; undefined if there are none. */
  readonly open: string | undefined;
  /** Programs, with the command that adds the address to each. */
  readonly commands: readonly { readonly program: string; readonly command: string }[];
  /** The page about signing in, for developers. */
  readonly documentation: string;
}

/** What a browser shows at the addresses for assistants; `isOpen` at the one with the public tools. */
export function mcpPage(
  words: Words,
  { address, open, commands, documentation }: McpView,
  isOpen: boolean,
): MemberPage {
  const tools =
    open !== undefined &&
    html`<p>${words.html(isOpen ? 'mcp.here' : 'mcp.open', { address: html`<code dir="ltr">${open}</code>` })}</p>`;
  const body = html`<p>${words.html('mcp.text')}</p>
${isOpen && tools}
<h2>${words.html('mcp.address')}</h2>
<p class="copy"><code dir="ltr">${address}</code></p>
<p>${words.html('mcp.add')}</p>
<details>
<summary>${words.html('mcp.commands')}</summary>
<dl class="commands">
${commands.map(({ program, command }) => html`<dt>${program}</dt><dd class="copy"><code dir="ltr">${command}</code></dd>`)}
</dl>
</details>
${!isOpen && tools}
${forDevelopers(words, documentation)}`;
  return titled(words, 'mcp', body, 'mcp.title', 'mcp.heading');
}

/** The link to the page about signing in. */
function forDevelopers(words: Words, documentation: string): Html {
  return html`<p><a href="${documentation}">${words.html('mcp.documentation')}</a></p>`;
}
