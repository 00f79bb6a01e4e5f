import { type Html, html } from '../../../http/html.ts';
import { pathOfApp, pathOfMember } from '../paths.ts';

/** A member or an app by its name, with a link to its page. */
interface Named {
  readonly id: string;
  readonly name: string;
}

export const memberLink = ({ id, name }: Named): Html => html`<a href="${pathOfMember(id)}"><bdi>${name}</bdi></a>`;
export const appLink = ({ id, name }: Named): Html => html`<a href="${pathOfApp(id)}"><bdi>${name}</bdi></a>`;
