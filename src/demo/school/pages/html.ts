/** Text that is HTML already. Only `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text is escaped, HTML is taken as it is, lists are joined, nothing is nothing. */
export type Slot = string | number | Html | readonly Html[] | undefined | false;

/** The template tag of all pages: everything put into it is escaped unless it came from this tag itself. */
export function html(parts: TemplateStringsArray, ...slots: readonly Slot[]): Html {
  return new Html(parts.map((part, index) => (index === 0 ? part : rendered(slots[index - 1]) + part)).join(''));
}

function rendered(slot: Slot): string {
  if (slot === undefined || slot === false) return '';
  if (slot instanceof Html) return slot.text;
  if (typeof slot === 'object') return slot.map((item) => item.text).join('');
  return String(slot).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
