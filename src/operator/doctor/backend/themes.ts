/** The heading of each theme of the checks from the gate's side. */
export const BACKEND_THEMES: Readonly<Record<string, string>> = {
  gate: 'The running gate',
  upstream: 'Upstreams',
  whoami: 'whoami',
  recheck: 'recheck',
  signin: 'Sign-in',
  assertion: 'Assertions',
  member: 'A member who signs in',
};
