import type { Context } from '../../../context.ts';
import { conflict, notFound } from '../../../library/errors.ts';
import { resendRecord } from '../../../outbox/resend-record.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { existingTrigger } from '../change-trigger.ts';
import { findDeliveryByName, deliveryStateStatement, reopenDeliveryStatement } from './store.ts';

/**
 * Handles a delivery again that was given up, or that waits for its next try. `of`: the `delivery_id` that the sender was answered, or the id of the
 * row. Repeatable. Throws 404 and 409.
 */
export async function retryDelivery(context: Context, workflowId: number, triggerId: number, of: string | { id: number }): Promise<void> {
  const { database, organization } = context;
  const workflow = await existingWorkflow(context, workflowId);
  const trigger = await existingTrigger(context, triggerId);
  if (trigger.workflow_id !== workflowId) throw notFound('Trigger');
  const id = typeof of === 'string' ? await findDeliveryByName(database, organization.id, triggerId, of) : of.id;
  if (id === null) throw notFound('Delivery');
  // With an inactive trigger the delivery would be handled and start nothing.
  if (trigger.state !== 'active') throw conflict(`The trigger is ${trigger.state}; activate it, then send the delivery again`);
  if (workflow.status !== 'active') throw conflict(`The workflow is ${workflow.status}; activate it, then send the delivery again`);
  await resendRecord(context, {
    message: { v: 1, kind: 'delivery', organization_id: organization.id, id },
    reopen: reopenDeliveryStatement(database, organization.id, id),
    read: deliveryStateStatement(database, organization.id, id),
    name: 'Delivery',
  });
}
