import { DurableObject } from 'cloudflare:workers';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { isQueryBudgetSpent, runInvocation } from '../../src/database/query-budget.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { getSettings } from '../../src/settings.ts';
import type { WebhookEndpointRpc } from '../../src/webhook-endpoints/rpc.ts';
import { deliverDue, type Unrecorded } from '../../src/webhook-endpoints/sending/deliver-due.ts';

/** An alarm works for this long; the next one continues. */
const alarmBudgetMs = 20_000;
/** After an error, such as of D1. The minute tick wakes an object whose alarm is lost. */
const retryAfterErrorMs = 5000;

/** Whose object it is, as it is stored under `endpoint`. */
interface StoredEndpoint {
  organizationId: number;
  endpointId: number;
}

/**
 * Sends the messages of one webhook endpoint, and is the only one that does, so that messages of one subject keep their order. D1 has the
 * messages and how far they are; the object keeps nothing but its alarm and whose it is.
 */
export class WebhookEndpointObject extends DurableObject<Env> implements WebhookEndpointRpc {
  readonly #unrecorded: Unrecorded = { sent: [] };

  async wake(organizationId: number, endpointId: number): Promise<void> {
    const { storage } = this.ctx;
    if (!this.#read()) storage.kv.put<StoredEndpoint>('endpoint', { organizationId, endpointId });
    await this.#wakeBy(Date.now());
  }

  async deleteAllData(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  override alarm(): Promise<void> {
    return runInvocation(async () => {
      const endpoint = this.#read();
      if (!endpoint) return;
      const nextAt = await this.#deliver(endpoint);
      if (nextAt !== null) return this.#wakeBy(nextAt);
      // Unless it was woken meanwhile, the object has nothing to wait for.
      if ((await this.ctx.storage.getAlarm()) === null) await this.deleteAllData();
    });
  }

  /** Answers when there is work next, epoch ms; null: not until the object is woken. */
  async #deliver({ organizationId, endpointId }: StoredEndpoint): Promise<number | null> {
    const startedAt = Date.now();
    const isOver = () => Date.now() - startedAt >= alarmBudgetMs || isQueryBudgetSpent();
    const log = new Logger(getSettings(this.env).LOG_LEVEL, { object: `${organizationId}/${endpointId}` });
    try {
      const context = await backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
      // Without a context the organization is deleted.
      return context && (await deliverDue(context, endpointId, this.#unrecorded, isOver));
    } catch (error) {
      log.error('webhooks could not be sent, or their results not be written', error);
      return Date.now() + retryAfterErrorMs;
    }
  }

  #read(): StoredEndpoint | undefined {
    return this.ctx.storage.kv.get<StoredEndpoint>('endpoint');
  }

  async #wakeBy(moment: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > moment) await this.ctx.storage.setAlarm(moment);
  }
}
