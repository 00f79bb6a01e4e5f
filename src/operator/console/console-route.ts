import type { CommandedBy } from '../../authorization-server/administration/account-control.ts';
import type { Html } from '../../http/html.ts';

/** The entries of the console's navigation. */
export type Section =
  | 'overview'
  | 'traffic'
  | 'apps'
  | 'members'
  | 'grants'
  | 'connections'
  | 'keys'
  | 'events'
  | 'observe';

/** What a signed-in operator asks of a page, already bounded and checked. */
export interface ConsoleRequest {
  /** Of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Of a POST, without `csrf`. */
  readonly form: Readonly<Record<string, string>>;
  /** For the page's own forms: the value of a hidden field named `csrf`. */
  readonly csrf: string;
  /** Who acts, for the audit. Its reason is the form's field `reason`, if there is one. */
  readonly decision: CommandedBy;
}

interface ConsolePage {
  readonly section: Section;
  readonly title: string;
  /** Everything below the page's heading, which is the title. */
  readonly body: Html;
}

/** A page, or a 303 to a path of the console, where the notice `done` is shown once. */
export type ConsoleAnswer = ConsolePage | { readonly see: string; readonly done: string };

export interface ConsoleRoute {
  /** A GET changes nothing. */
  readonly method: 'GET' | 'POST';
  /** Below /console, in Express' form: `/members/:id`. */
  readonly path: string;
  /** A GatewayError becomes a page with its message. */
  readonly run: (request: ConsoleRequest) => Promise<ConsoleAnswer>;
}

/** A panel of the first page. If it rejects, the page says so in its place. */
export interface ConsolePanel {
  readonly title: string;
  readonly render: () => Promise<Html>;
}
