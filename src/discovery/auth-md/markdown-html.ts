import { parser as commonMark, Table } from '@lezer/markdown';
import { type Html, type HtmlValue, html } from '../../http/html.ts';

const parser = commonMark.configure([Table]);
type Node = ReturnType<typeof parser.parse>['topNode'];

/** Characters of the syntax, which are not shown. */
const MARKS = ['HeaderMark', 'CodeMark', 'EmphasisMark', 'LinkMark', 'TableDelimiter'];

/**
 * Renders auth.md as HTML without its title: what `markdown.ts` and the sections beside it write. Anything else is
 * shown as it is written.
 */
export function markdownHtml(text: string): Html {
  const textOf = ({ from, to }: Pick<Node, 'from' | 'to'>) => text.slice(from, to);
  const inner = (node: Node): HtmlValue => {
    const parts: HtmlValue[] = [];
    let at = node.from;
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      parts.push(textOf({ from: at, to: child.from }), render(child));
      at = child.to;
    }
    return [...parts, textOf({ from: at, to: node.to })];
  };
  const cells = (row: Node | null, cell: (content: HtmlValue) => Html): Html =>
    html`<tr>${row?.getChildren('TableCell').map((node) => cell(inner(node)))}</tr>`;
  const render = (node: Node): HtmlValue => {
    if (MARKS.includes(node.name)) return undefined;
    switch (node.name) {
      case 'Document':
      case 'URL':
        return inner(node);
      case 'ATXHeading1':
        return undefined;
      case 'ATXHeading2':
        return html`<h2>${textOf(node).replace(/^#+ */, '')}</h2>`;
      case 'Paragraph':
        return html`<p>${inner(node)}</p>`;
      case 'StrongEmphasis':
        return html`<strong>${inner(node)}</strong>`;
      case 'InlineCode':
        return html`<code>${inner(node)}</code>`;
      case 'FencedCode':
        return html`<pre><code>${node.getChildren('CodeText').map(textOf)}</code></pre>`;
      case 'Escape':
        return textOf(node).slice(1);
      case 'Autolink':
        return html`<a href="${textOf(node).slice(1, -1)}">${inner(node)}</a>`;
      case 'Table':
        return html`<table>
<thead>${cells(node.getChild('TableHeader'), (content) => html`<th scope="col">${content}</th>`)}</thead>
<tbody>${node.getChildren('TableRow').map((row) => cells(row, (content) => html`<td>${content}</td>`))}</tbody>
</table>`;
      default:
        return textOf(node);
    }
  };
  return html`${render(parser.parse(text).topNode)}`;
}
