// Runs after every install, under any Node: copies the pieces of Swagger UI that the page at /docs needs into public/docs/viewer.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../node_modules/swagger-ui-dist/', import.meta.url);
const target = new URL('../public/docs/viewer/', import.meta.url);

// An install without development dependencies has no viewer to copy, and no use for one.
if (existsSync(source)) {
  mkdirSync(target, { recursive: true });
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
    copyFileSync(fileURLToPath(new URL(name, source)), fileURLToPath(new URL(name, target)));
  }
}
