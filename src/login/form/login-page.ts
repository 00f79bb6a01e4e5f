import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/** The parts of a sign-in form that are needed to submit it. */
export interface LoginForm {
  /** The action as written; undefined means the URL of the page. */
  readonly action: string | undefined;
  /** Names and values of its hidden fields, in order. */
  readonly hidden: readonly (readonly [name: string, value: string])[];
}

interface Found {
  readonly id: string | undefined;
  readonly action: string | undefined;
  readonly inputs: Attributes[];
  own: boolean;
}

type Attributes = ReadonlyMap<string, string>;

/** Pages longer than this are not searched. */
const LONGEST = 1024 * 1024;

/**
 * Finds the sign-in form of a page: the one with a password field of the configured name, else one with any password
 * field. Of several, prefers the one with the wanted action. Undefined if there is none.
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
        const isSent = typeOf(input) === 'hidden' && field !== '' && !input.has('disabled');
        return isSent ? [[field, input.get('value') ?? ''] as const] : [];
      }),
    }
  );
}

function typeOf(input: Attributes): string {
  return (input.get('type') ?? 'text').trim().toLowerCase();
}

/**
 * Finds all forms with the parser of the HTML standard, as browsers do. The fields of a misplaced form (between the rows
 * of a table) are its siblings in the tree: they are assigned to the last form that has no fields of its own.
 */
function formsOf(page: string): readonly Found[] {
  const forms: Found[] = [];
  // Document order. An explicit stack instead of recursion, since a page can be nested arbitrarily deep.
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
