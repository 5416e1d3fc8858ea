import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { isServiceError } from '../../../library/errors.ts';
import type { Json } from '../../../library/json/json.ts';
import { renderDeep } from '../../../expressions/templates/render.ts';
import { defaultHandle, defineNode, findInField, errorHandle, next, simulated } from '../contract.ts';
import { findUnarchivedWorkflowIds } from '../store.ts';
import { toStepFailure } from '../shared/perform-effect.ts';

export const completedHandle = 'completed';
export const failedHandle = 'failed';

export const runWorkflowNode = defineNode({
  type: 'run_workflow',
  label: 'Run another journey',
  description:
    "Starts a run of another active journey for the same contact. With `wait` it sleeps until that run has ended and goes on at `completed` or, when it failed or was cancelled, at `failed`; what leads nowhere goes on at `default`. Without it, it goes on at `default` at once. The output has the other run's id, state, outcome and variables.",
  dataSchema: configObject({
    workflow_id: z.int().positive(),
    context: z.record(z.string(), z.unknown()).default({}),
    wait: z.boolean().default(false),
  }),
  handles: () => [completedHandle, failedHandle, defaultHandle, errorHandle],
  isSideEffect: true,
  references: {
    noun: 'workflow',
    listPath: '/automation-workflows',
    find: findInField('workflow_id'),
    findExisting: findUnarchivedWorkflowIds,
  },
  example: { workflow_id: 12, context: { order_id: '{{ data.order_id }}' }, wait: true },
  run: async (step) => {
    const request = { ...step.data, context: renderDeep(step.data.context, step.scope) as Record<string, Json> };
    if (step.dryRun)
      return request.wait ? { ...simulated(request), handle: completedHandle, fallbackHandle: defaultHandle } : simulated(request);
    try {
      const child = await step.effects.startRun(step.key, request);
      return request.wait ? { kind: 'wait_for_run', runId: child.run_id, output: child } : next(child);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return toStepFailure(error);
    }
  },
});
