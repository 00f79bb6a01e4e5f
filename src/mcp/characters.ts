// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ANSI = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Zero width, direction overrides, fillers, tags, and the variation selectors that no emoji has. */
const INVISIBLE =
  /\u034F|\u17B4|\u17B5|[\u180B-\u180F]|[\u00AD\u061C\u115F\u1160\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB]|[\uFE00-\uFE0D]|[\u{E0000}-\u{E0FFF}]|[\u{1D173}-\u{1D17A}]/gu;
/** Text or emoji presentation: nothing but an emoji has one, and only one. */
const STRAY_PRESENTATION = /(?<!\p{Emoji})[\uFE0E\uFE0F]/gu;
const JOINERS = /[\u200C\u200D]+/g;

/**
 * Removes the characters that nobody sees and a model reads: escape sequences for terminals, control characters, zero
 * width, tags, direction overrides, stray variation selectors. What is left is well-formed, with \n as its line end.
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(ANSI, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(STRAY_PRESENTATION, '')
    .replace(JOINERS, joiner);
}

/** Joiners belong into Persian, Hindi and family emoji, one at a time; beside plain letters they only hide something. */
function joiner(run: string, at: number, text: string): string {
  const belongs = text.charCodeAt(at - 1) >= 0x80 && text.charCodeAt(at + run.length) >= 0x80;
  return belongs ? run.charAt(0) : '';
}
