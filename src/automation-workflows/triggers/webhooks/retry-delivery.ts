import type { Context } from '../../../context.ts';
import { conflict, notFound } from '../../../library/errors.ts';
import { resendRecord } from '../../../outbox/resend-record.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { existingTrigger } from '../change-trigger.ts';
import { findDeliveryByName, deliveryStateStatement, reopenDeliveryStatement } from './store.ts';

/**
 * Has a delivery handled that was given up, or that still waits for another try; `name` is the `delivery_id` that its sender was answered.
 * Repeatable. Throws 404 and 409.
 */
export async function retryDelivery(context: Context, workflowId: number, triggerId: number, name: string): Promise<void> {
  const { database, organization } = context;
  const workflow = await existingWorkflow(context, workflowId);
  const trigger = await existingTrigger(context, triggerId);
  if (trigger.workflow_id !== workflowId) throw notFound('Trigger');
  const id = await findDeliveryByName(database, organization.id, triggerId, name);
  if (id === null) throw notFound('Delivery');
  // It would be handled, and start nothing.
  if (trigger.state !== 'active') throw conflict(`The trigger is ${trigger.state}; activate it, then send the delivery again`);
  if (workflow.status !== 'active') throw conflict(`The workflow is ${workflow.status}; activate it, then send the delivery again`);
  await resendRecord(context, {
    message: { v: 1, kind: 'delivery', organization_id: organization.id, id },
    reopen: reopenDeliveryStatement(database, organization.id, id),
    read: deliveryStateStatement(database, organization.id, id),
    name: 'Delivery',
  });
}
