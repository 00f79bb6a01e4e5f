import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/** A form of a page, as far as signing in takes. */
export interface LoginForm {
  /** As it is written; undefined: the page's own address. */
  readonly action: string | undefined;
  /** Names and values of its hidden fields, in their order. */
  readonly hidden: readonly (readonly [name: string, value: string])[];
}

interface Found {
  readonly id: string | undefined;
  readonly action: string | undefined;
  readonly inputs: Attributes[];
  own: boolean;
}

type Attributes = ReadonlyMap<string, string>;

/** A page longer than this is no sign-in page. */
const LONGEST = 1024 * 1024;

/**
 * The form of a page that one signs in with: the one with a field of that name, else the one with a password field; of
 * several, the one whose action is the wanted one. Out: undefined when there is none.
 */
export function findLoginForm(
  page: string,
  wanted: { readonly passwordField: string; isAction(action: string | undefined): boolean },
): LoginForm | undefined {
  if (page.length > LONGEST) return undefined;
  const forms = formsOf(page);
  const named = forms.filter(({ inputs }) => inputs.some((input) => input.get('name') === wanted.passwordField));
  const typed = forms.filter(({ inputs }) => inputs.some((input) => typeOf(input) === 'password'));
  const candidates = named.length > 0 ? named : typed;
  const form = candidates.find(({ action }) => wanted.isAction(action)) ?? candidates[0];
  return (
    form && {
      action: form.action,
      hidden: form.inputs.flatMap((input) => {
        const field = input.get('name') ?? '';
        const taken = typeOf(input) === 'hidden' && field !== '' && !input.has('disabled');
        return taken ? [[field, input.get('value') ?? ''] as const] : [];
      }),
    }
  );
}

function typeOf(input: Attributes): string {
  return (input.get('type') ?? 'text').trim().toLowerCase();
}

/**
 * By the algorithm of the HTML standard, as a browser reads it. A form that was opened where none may stand (between the
 * rows of a table) has its fields beside it in the tree: they go to the last form that has none of its own.
 */
function formsOf(page: string): readonly Found[] {
  const forms: Found[] = [];
  // In the order of the document; a stack of our own, since a page may be nested as deeply as it likes.
  const rest: { node: DefaultTreeAdapterTypes.Node; owner: Found | undefined }[] = [
    { node: parse(page), owner: undefined },
  ];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { node } = next;
    let { owner } = next;
    if ('tagName' in node) {
      const attributes = new Map(node.attrs.map(({ name, value }) => [name, value]));
      if (node.tagName === 'form') {
        owner = { id: attributes.get('id'), action: attributes.get('action'), inputs: [], own: false };
        forms.push(owner);
      } else if (node.tagName === 'input') ownerOf(attributes, owner, forms)?.inputs.push(attributes);
    }
    if ('childNodes' in node) for (const child of node.childNodes.toReversed()) rest.push({ node: child, owner });
  }
  return forms;
}

function ownerOf(input: Attributes, around: Found | undefined, forms: readonly Found[]): Found | undefined {
  const named = input.get('form');
  if (around !== undefined) around.own = true;
  const last = forms.at(-1);
  return (
    forms.find(({ id }) => named !== undefined && id === named) ?? around ?? (last?.own === false ? last : undefined)
  );
}
