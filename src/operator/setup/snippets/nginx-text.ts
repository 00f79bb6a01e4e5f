/** A word of an nginx configuration, quoted if necessary. In quotes, a backslash escapes quotes and backslashes. */
export function quoted(text: string): string {
  return /^[\w./~^-]+$/.test(text) ? text : `"${inDoubleQuotes(text)}"`;
}

/** Within double quotes, for nginx and Apache. */
export const inDoubleQuotes = (text: string): string => text.replace(/["\\]/g, '\\$&');

/** A field's name in the names of variables. */
export function variableName(field: string): string {
  return field.toLowerCase().replaceAll('-', '_');
}

/** The variable with a request field. */
export function requestVariable(field: string): string {
  return `$http_${variableName(field)}`;
}
