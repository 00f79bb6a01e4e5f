import { html } from '../../http/html.ts';
import type { MemberPage } from './layout.ts';
import { forDevelopers } from './machine.ts';
import type { Words } from './words.ts';

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
  return {
    id: 'mcp',
    title: words.text('mcp.title'),
    body: html`
<h1>${words.html('mcp.heading')}</h1>
<p>${words.html('mcp.text')}</p>
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
${forDevelopers(words, documentation)}`,
  };
}
