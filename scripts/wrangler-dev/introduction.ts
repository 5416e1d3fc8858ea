import { serviceOrigin, type LocalSettings } from '../local/settings.ts';

/** What a user of a plain `wrangler dev` reads before it is up: where to get a key, and what else there is to run. */
export function introduction(settings: LocalSettings, logFile: string): string {
  const api = `${serviceOrigin(settings)}/api/v1`;
  const person = JSON.stringify({ email: 'you@example.com', password: 'a long password', organization_name: 'Acme' });
  const simulators = settings.simulatorsPort === 8788 ? '' : `SIM_PORT=${settings.simulatorsPort} `;
  return `
This service is for development: its secrets are in .dev.vars, its tables are made, its cron ticks each minute.

  API      ${api}
  Docs     ${serviceOrigin(settings)}/docs
  A key    npm run --silent credentials       prints one of a demo organization, once the service is up
  Sign up  curl -s '${api}/auth/signup' -H 'Content-Type: application/json' -d '${person}'
           curl -s '${api}/user/api-keys' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name": "First key", "scopes": ["admin"]}'

The language model, carriers, messaging providers and tools are simulated by "${simulators}npm run simulators", in another terminal.
"npm start" runs both. ${logFile} says what happens beside the service.
`;
}
