import Mustache from 'mustache';
import { readInstalled } from '../installation.ts';

/** What stands for the names in a template, and for the sections of a list or an object. */
export type TemplateView = Readonly<Record<string, unknown>>;

/** A file of the installation, which is a template, filled in: see `filled`. */
export function filledFile(path: string, view: TemplateView, quoted?: (text: string) => string): string {
  return filled(readInstalled(path).toString('utf8'), view, quoted);
}

/**
 * A template of Mustache, filled in. `{{name}}` stands for a value as `quoted` writes it in the quotes of that format, and
 * `{{{name}}}` for the value as it is. Throws Error for a name without a value.
 */
export function filled(
  template: string,
  view: TemplateView,
  quoted: (text: string) => string = (text) => text,
): string {
  return Mustache.render(template, new StrictContext(view), {}, { escape: (value) => quoted(String(value)) });
}

/** Mustache itself would write nothing for a name that it does not know. */
class StrictContext extends Mustache.Context {
  override lookup(name: string): unknown {
    const value = super.lookup(name);
    if (value === undefined) throw new Error(`Nothing is filled in for ${name}.`);
    return value;
  }

  override push(view: unknown): StrictContext {
    return new StrictContext(view, this);
  }
}
