import { z } from '@hono/zod-openapi';
import { createdAt, queryId } from '../../http/router.ts';
import { listSchema } from '../../http/pagination.ts';

const ListedVersion = z
  .object({
    id: z.int().describe('Id of the version: `definition_id` of the calls that were held by it.'),
    is_current: z.boolean().describe('Whether calls without a pinned version are held by it now.'),
    restored_from: z.int().nullable().describe('The earlier version that it takes up again; null: it was written anew.'),
    node_count: z.int().describe('How many nodes its graph has.'),
    edge_count: z.int().describe('How many edges its graph has.'),
    created_at: createdAt,
  })
  .describe('What calls use of the agent, now or earlier, without its content.')
  .openapi('ListedAgentVersion');

export const VersionList = listSchema('versions', ListedVersion);

export const VersionRecord = ListedVersion.extend({
  workflow_definition: z
    .record(z.string(), z.unknown())
    .describe('The graph of the talk in this version: `{ nodes, edges }`. Secrets in it are masked.'),
  template_context_variables: z
    .record(z.string(), z.unknown())
    .describe('By name, what prompts use in this version where a call brings no variable of that name.'),
  call_disposition_codes: z.record(z.string(), z.unknown()).describe('By code, what a talk may have led to in this version.'),
  workflow_configurations: z
    .record(z.string(), z.unknown())
    .describe('How the agent talks in this version, as stored. `required_tests` belong to the agent, and are in no version.'),
})
  .describe('All that calls use of the agent, now or earlier.')
  .openapi('AgentVersion');

export const DiffQuery = z.object({
  to: queryId.optional().describe('The version to compare with; absent: the current one.'),
});

const Change = z
  .object({
    path: z.string().openapi({
      example: '/workflow_definition/nodes/start/data/prompt',
      description:
        'Where in the version, as a JSON Pointer. Nodes and edges are named by their id, items of other lists by their place, from 0.',
    }),
    kind: z.enum(['added', 'removed', 'changed']).describe('What has happened at this place.'),
    before: z
      .unknown()
      .optional()
      .describe('The earlier value, secrets masked; absent when it was added. Over 8 KiB it is cut, and says so.'),
    after: z
      .unknown()
      .optional()
      .describe('The later value, secrets masked; absent when it was removed. Over 8 KiB it is cut, and says so.'),
  })
  .describe('One difference.')
  .openapi('AgentVersionChange');

export const VersionDiff = z
  .object({
    from: z.int().describe('The earlier version.'),
    to: z.int().describe('The version that it is compared with.'),
    changes: z.array(Change).describe('The differences, the first 1,000; empty: the versions are equal.'),
    total: z.int().describe('How many differences there are in all.'),
  })
  .describe('What has changed between two versions.')
  .openapi('AgentVersionDiff');
