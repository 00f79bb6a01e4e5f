import { codePath, readInstalled } from '../../installation.ts';

/** What replaces each `{{name}}` of a template: a text, or texts on a line each. */
export type TextFilling = Readonly<Record<string, string | number | readonly string[]>>;

/** A file of this folder, filled in: see `filledText`. */
export function filledFile(file: string, filling: TextFilling): string {
  return filledText(readInstalled(codePath(`operator/setup/${file}`)).toString('utf8'), filling);
}

/**
 * A text with its `{{name}}` filled in. A name that is alone on its line gives its indentation to every line that replaces
 * it; an empty text removes the line. Throws Error for a name that is not in `filling`.
 */
export function filledText(template: string, filling: TextFilling): string {
  const textOf = (name: string) => {
    const value = Object.hasOwn(filling, name) ? filling[name] : undefined;
    if (value === undefined) throw new Error(`Nothing is filled in for ${name}.`);
    return [value]
      .flat()
      .map((text) => String(text).replace(/\n$/, ''))
      .join('\n');
  };
  return template.replace(/^([ \t]*)\{\{(\w+)\}\}\n|\{\{(\w+)\}\}/gm, (_all, indent = '', line?: string, word = '') => {
    if (line === undefined) return textOf(word);
    const text = textOf(line);
    return text === '' ? '' : `${text.replace(/^(?=.)/gm, indent)}\n`;
  });
}
