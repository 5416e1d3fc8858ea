// Writes the page at /docs from openapi.json, and lays the file itself beside it for the Worker to serve. Runs after every install, under any Node, and with npm run generate.
import { readFileSync, writeFileSync } from 'node:fs';
import { docsPage } from './docs-page/page.mjs';

const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));
writeFileSync(new URL('../public/docs/index.html', import.meta.url), docsPage(document));
writeFileSync(new URL('../public/docs/openapi.json', import.meta.url), JSON.stringify(document));
