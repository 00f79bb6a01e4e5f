const KNOWN = new Set<string>();

/** Whether a text is an IANA time zone. Names are remembered, because creating a DateTimeFormat is slow. */
export function isTimeZone(name: string): boolean {
  if (KNOWN.has(name)) return true;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  KNOWN.add(name);
  return true;
}
