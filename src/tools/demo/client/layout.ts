import { type Html, html } from '../../../http/html.ts';

/** Renders a complete page around the content of its `main` element. */
export function layout(content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Study Buddy</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><h1><a href="/"><img src="/icon.svg" alt="" width="36" height="36">Study Buddy</a></h1>
<p>A sample third-party app</p></header>
<main id="study-buddy">${content}</main>
</body>
</html>
`.text;
}

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 36"><rect width="36" height="36" rx="9" fill="#0f766e"/>
<path d="M7 11c4-1.500 7-1 11 1.500v14c-4-2.500-7-3-11-1.500zM29 11c-4-1.500-7-1-11 1.500v14c4-2.500 7-3 11-1.500z" fill="#fff"/></svg>
`;
