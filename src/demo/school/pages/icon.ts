/**
 * The school's sign, a sail over water: a drawing under the name that browsers ask for unasked, so that every page on
 * this origin has it in its tab, the gate's too.
 */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14506b"/>
<path d="M15 5v16H6zM17 9v12h8z" fill="#fff"/><path d="M5 24q3.5 3 7 0t7 0 8 0" fill="none" stroke="#fff" stroke-width="2"/></svg>
`;
