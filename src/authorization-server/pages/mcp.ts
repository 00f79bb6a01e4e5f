import { html } from '../../http/html.ts';
import type { MemberPage } from './layout.ts';
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
  readonly connectedApps: string;
}

/** What a browser shows at the addresses for assistants. */
export function mcpPage(words: Words, { address, open, commands, documentation, connectedApps }: McpView): MemberPage {
  return {
    id: 'mcp',
    title: words.text('mcp.title'),
    body: html`
<h1>${words.html('mcp.heading')}</h1>
<p>${words.html('mcp.text')}</p>
<h2>${words.html('mcp.address')}</h2>
<p class="copy"><code dir="ltr">${address}</code></p>
<p>${words.html('mcp.add')}</p>
<details>
<summary>${words.html('mcp.commands')}</summary>
<dl class="commands">
${commands.map(({ program, command }) => html`<dt>${program}</dt><dd class="copy"><code dir="ltr">${command}</code></dd>`)}
</dl>
</details>
${open !== undefined && html`<p class="muted">${words.html('mcp.open', { address: html`<code dir="ltr">${open}</code>` })}</p>`}
<ul class="links">
<li><a href="${connectedApps}">${words.html('apps.title')}</a></li>
<li><a href="${documentation}">${words.html('mcp.documentation')}</a></li>
</ul>`,
  };
}
