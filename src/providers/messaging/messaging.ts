import type { UrlPolicy } from '../http/url-policy.ts';
import type { Runtime } from '../http/runtime.ts';
import type { MessagingFailure } from './failures.ts';
import type { Template } from './templates.ts';

export type ProviderKey = 'provider_a' | 'provider_b' | 'provider_c' | 'provider_d';

interface MessageAddress {
  /** E.164. */
  to: string;
  /** Names this message for good. No provider keeps from sending it twice: it only comes back with what they tell. */
  key: string;
  /** Told of what becomes of it, where the provider takes an address with each message; elsewhere it is registered with the provider. */
  callbackUrl?: string;
}

export type TemplateMessage = MessageAddress & { template: Template; params: Record<string, string> };
export type TextMessage = MessageAddress & { text: string };
export type Message = TemplateMessage | TextMessage;

/** `status` in the provider's word: accepted, queued, submitted ... None of them means delivered. */
export type SendResult = { messageId: string; status: string } | MessagingFailure;
export type TemplatesResult = { templates: Template[] } | MessagingFailure;

export type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

export interface MessageEvent {
  /** As `send` gave it. */
  messageId: string;
  status: MessageStatus;
  /** Epoch ms. */
  at: number;
  /** Of `failed`. */
  failure?: MessagingFailure;
}

/** A request of the provider: `url` as it called it, `body` as it came. */
export interface CallbackRequest {
  url: string;
  headers: Headers;
  body: string;
}

/** `isUnsigned`: not proved to be the provider's, to be refused. No events: it tells of something else. */
export type CallbackResult = { events: MessageEvent[] } | { isUnsigned: true };

/** An account with a provider. Nothing here throws, and no message holds a secret. */
export interface MessagingProvider {
  readonly provider: ProviderKey;
  /** The approved ones, from all pages. */
  listTemplates(): Promise<TemplatesResult>;
  /** Asks once, whatever comes of it. */
  send(message: Message): Promise<SendResult>;
  readCallback(request: CallbackRequest): CallbackResult;
}

export interface MessagingOptions {
  /** With the version: https://graph.facebook.com/v25.0. */
  metaBaseUrl: string;
  gupshupBaseUrl: string;
  twilioBaseUrl: string;
  twilioContentBaseUrl: string;
  /** For the address that a customer gives. */
  urlPolicy: UrlPolicy;
  /** For one request; default 15 s. */
  timeoutMs?: number;
  runtime?: Runtime;
}
