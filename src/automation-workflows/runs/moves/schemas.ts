import { z } from '@hono/zod-openapi';
import { pageQuery } from '../../../http/pagination.ts';
import { createdAt, orNull, timestamp } from '../../../http/router.ts';
import { runStates } from '../../run-states.ts';

const reason = z.enum(['same_version', 'ended', 'not_begun', 'busy', 'node_missing', 'node_changed', 'unreachable']).openapi({
  example: 'node_missing',
  description:
    '`same_version`: it is on the version already; `not_begun`: it begins within moments on its own version; `busy`: it is taking steps; `node_missing`: the node at which it waits is not in the version; `node_changed`: that node has another type there; `ended`: it ended meanwhile; `unreachable`: its object did not answer.',
});
const verdict = {
  can_move: z.boolean().describe('Whether it would go on in the version.'),
  reason: orNull(reason).describe('Why it would stay; null: it would move.'),
  message: z.string().nullable().describe('The reason in words; null: it would move.'),
};
const runVersion = z.int().describe('The version on which it is now.');
const nodeId = z.string().nullable().describe('The node at which it is; null: it has not begun.');

export const PreviewQuery = z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor });

export const MovePreview = z
  .object({
    version: z.int().describe('The version that runs would move to.'),
    runs: z
      .array(
        z.object({
          run_id: z.int().describe('The live run that it is about.'),
          workflow_version: runVersion,
          node_id: nodeId,
          state: z.enum(runStates).describe('How it stands.'),
          contact_id: z.int().nullable().describe('The contact of the run; null: none.'),
          ...verdict,
        }),
      )
      .describe('The live runs of the journey, newest first.'),
    groups: orNull(
      z.array(
        z.object({
          workflow_version: runVersion,
          node_id: nodeId,
          state: z.enum(runStates).describe('How they stand.'),
          runs: z.int().describe('How many live runs there are.'),
          ...verdict,
        }),
      ),
    ).describe('All live runs by version, node and state, the most first; only the first page has them, else null.'),
    is_partial: z.boolean().describe('There are more than 10,000 live runs, and `groups` count the first of them.'),
    limit: z.int().describe('The page size that was asked for, or the default.'),
    next_cursor: z.string().nullable().describe('Send it as `cursor` to get the next page; null on the last one.'),
  })
  .describe('Which live runs could go on in a version, as they stand now.')
  .openapi('RunMovePreview');

export const RunMove = z
  .object({
    id: z.int().describe('Id of the move.'),
    automation_workflow_id: z.int().describe('The journey whose runs move.'),
    version: z.int().describe('The version that they go on with.'),
    state: z.enum(['moving', 'finished']).describe('`moving`: runs are moved, page by page; `finished`: all have been looked at.'),
    moved: z.int().describe('How many runs have moved so far.'),
    kept: z.int().describe('How many runs stay on their version so far, those that were on this version aside.'),
    reasons: z
      .array(
        z.object({
          reason,
          message: z.string().describe('The reason in words.'),
          runs: z.int().describe('How many runs stay for it.'),
          run_ids: z.array(z.int()).describe('The first 20 of them.'),
        }),
      )
      .describe('Why runs stay.'),
    created_at: createdAt,
    finished_at: timestamp.nullable().describe('When all had been looked at, ISO 8601 in UTC; null: it is under way.'),
  })
  .describe('Live runs of a journey that move to another version.')
  .openapi('RunMove');

export const RunMoveList = z
  .object({ moves: z.array(RunMove).describe('The latest 100 moves, newest first.') })
  .describe('The moves of the runs of a journey.')
  .openapi('RunMoveList');
