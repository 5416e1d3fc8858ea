import { escape, line, prose } from './html.mjs';
import { operationHtml } from './operation.mjs';
import { fieldsOf, typeOf } from './schema.mjs';

/** The page at /docs: the whole document as text, so that a browser's search finds all of it, folded by tag. */
export function docsPage(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const tags = document.tags.map((tag) => ({
    ...tag,
    title: tag['x-displayName'],
    operations: operations.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(document.info.title)} API</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<header>
<h1>${escape(document.info.title)} <small>${escape(document.info.version)}</small></h1>
<form id="key-form">
<label for="key">API key</label>
<input id="key" type="password" placeholder="vaa_..." autocomplete="off" spellcheck="false" aria-describedby="key-note">
<button type="button" id="forget">Forget the key</button>
<p id="key-note">Paste it: every request of this page carries it. It is kept in this browser alone (localStorage) until you press “Forget the key”.</p>
<p id="key-state" role="status"></p>
</form>
</header>
<nav aria-label="Groups">${tags.map(({ name, title }) => `<a href="#group-${escape(name)}">${escape(title)}</a>`).join(' ')} <a href="#group-schemas">Schemas</a>
<button type="button" id="open-all">Open all groups</button> <button type="button" id="fold-all">Fold all groups</button></nav>
<main>
<noscript><p>Without JavaScript this page shows everything, and sends nothing.</p></noscript>
<section>${prose(document.info.description)}<p>The same for programs: <a href="/api/v1/openapi.json">openapi.json</a>.</p></section>
${tags.map((tag) => groupHtml(document, tag)).join('\n')}
<details class="group" id="group-schemas" open><summary><h2>Schemas</h2> <span>What bodies and answers are made of.</span></summary>
${Object.entries(document.components.schemas).map(schemaHtml).join('\n')}</details>
</main>
</body>
</html>
`;
}

const groupHtml = (document, { name, title, description, operations }) => `<details class="group" id="group-${escape(name)}" open>
<summary><h2>${escape(title)}</h2> <span>${line(description)}</span></summary>
${operations.map((operation) => operationHtml(document, operation)).join('\n')}</details>`;

const schemaHtml = ([name, schema]) => `<details class="schema" id="schema-${escape(name)}">
<summary><code>${escape(name)}</code> <span>${line(schema.description)}</span></summary>
<div class="inside">${fieldsOf(schema) || `<p>${typeOf(schema)}</p>`}</div></details>`;
