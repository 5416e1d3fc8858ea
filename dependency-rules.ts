import type { ICruiseOptions, IForbiddenRuleType, IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Rooms from the lowest floor to the highest. A room imports its own floor and those below, types included. */
const floors: string[][] = [
  ['library', 'settings.ts'],
  ['database'],
  ['context.ts', 'plan.ts', 'outbox', 'providers'],
  ['http'],
  ['accounts'],
  ['expressions'],
  ['webhook-endpoints'],
  ['contacts', 'contact-policy'],
  ['events'],
  ['knowledge-base', 'telephony-configs', 'language-models'],
  ['messaging', 'integrations'],
  ['voice-agents'],
  ['calls'],
  ['campaigns', 'automation-workflows', 'simtest', 'timeline'],
  ['statistics', 'operations'],
  ['mcp'],
  ['queues', 'cron', 'openapi', 'health.ts', 'subscriptions.ts', 'app.ts', 'worker.ts'],
];

const inRooms = (rooms: string[]): string =>
  `^(src/(${rooms.join('|').replaceAll('.', '\\.')})(/|$)${rooms.includes('worker.ts') ? '|durable-objects/' : ''})`;

const floorRules = floors.slice(0, -1).map((rooms, floor) => ({
  name: `floor-of-${rooms[0]!.replace('.ts', '')}`,
  comment: 'A room imports its own floor and those below; what a room above has to know is a published event (src/outbox)',
  from: { path: inRooms(rooms) },
  to: { path: inRooms(floors.slice(floor + 1).flat()) },
}));

const rules: (IRegularForbiddenRuleType & { name: string })[] = [
  ...floorRules,
  { name: 'no-cycle', comment: 'Types included: move what both need below both', from: {}, to: { circular: true } },
  {
    name: 'stores-are-private',
    comment: 'A room uses another room through its verbs, never its SQL',
    from: { path: '^src/([^/]+)/', pathNot: '^src/(queues|cron|openapi)/' },
    to: { path: '^src/.+[/-]store\\.ts$', pathNot: '^src/($1|database|outbox)/' },
  },
  {
    name: 'routes-are-composed',
    comment: 'Routes are imported by src/app.ts and by routes of their own room',
    from: { pathNot: ['^src/app\\.ts$', 'routes\\.ts$'] },
    to: { path: '^src/.+routes\\.ts$' },
  },
  {
    name: 'runs-know-no-trigger',
    comment: 'A trigger starts runs; a run knows no trigger',
    from: { path: '^src/automation-workflows/(runs|nodes|definitions)/' },
    to: { path: '^src/automation-workflows/(triggers|explain|workflows)/' },
  },
  {
    name: 'product-knows-no-tool',
    comment: 'What is deployed imports nothing that only tests, benches and scripts have',
    from: { path: '^(src|durable-objects)/' },
    to: { path: '^(test|bench|scripts|simulators)/' },
  },
];

const configuration: { forbidden: IForbiddenRuleType[]; options: ICruiseOptions } = {
  forbidden: rules.map((rule) => Object.assign(rule, { severity: 'error' as const })),
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs', '.json'] },
  },
};
export default configuration;
