import type { TriggerRow, TriggerType } from '../triggers/store.ts';
import { lookAtContactEvent } from './contact-event.ts';
import { lookAtDataCondition } from './data-condition.ts';
import type { Evidence } from './evidence.ts';
import { lookAtInternalEvent } from './internal-event.ts';
import type { Look } from './look.ts';
import { lookAtManual } from './manual.ts';
import { lookAtSchedule } from './schedule.ts';
import { lookAtWebhook } from './webhook.ts';

const policies: Record<TriggerType, (evidence: Evidence, trigger: TriggerRow) => Look | Promise<Look>> = {
  contact_event: lookAtContactEvent,
  webhook: lookAtWebhook,
  schedule: lookAtSchedule,
  data_condition: lookAtDataCondition,
  event: lookAtInternalEvent,
  manual: lookAtManual,
};

/** What the rules of the trigger's type say of the contact. */
export const lookAtTrigger = async (evidence: Evidence, trigger: TriggerRow): Promise<Look> => policies[trigger.type](evidence, trigger);
