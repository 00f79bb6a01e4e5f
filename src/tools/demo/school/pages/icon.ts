/**
 * The school's icon, a sail over water. It is served as /favicon.ico, which browsers request by default, so that all
 * pages of this origin have it, including the gate's.
 */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14506b"/>
<path d="M15 5v16H6zM17 9v12h8z" fill="#fff"/><path d="M5 24q3.5 3 7 0t7 0 8 0" fill="none" stroke="#fff" stroke-width="2"/></svg>
`;
