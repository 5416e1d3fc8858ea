import { conflict } from '../../library/errors.ts';
import type { WorkflowStatus } from '../definitions/store.ts';

const transitions: Record<WorkflowStatus, readonly WorkflowStatus[]> = {
  draft: ['active', 'archived'],
  active: ['paused', 'archived'],
  paused: ['active', 'archived'],
  archived: ['draft'],
};

/** Throws 409 naming the current status and those that it can move to. */
export function requireTransition(from: WorkflowStatus, to: WorkflowStatus): void {
  if (from === to || transitions[from].includes(to)) return;
  throw conflict(`The workflow is ${from} and cannot become ${to}; from ${from} it can become ${transitions[from].join(' or ')}`);
}
