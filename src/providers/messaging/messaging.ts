import type { UrlPolicy } from '../http/url-policy.ts';
import type { Runtime } from '../http/runtime.ts';
import type { MessagingFailure } from './failures.ts';
import type { Template } from './templates.ts';

export type ProviderKey = 'provider_a' | 'provider_b' | 'provider_c' | 'provider_d';

interface MessageAddress {
  /** E.164. */
  to: string;
  /** Identifies the message for good. No provider prevents a second sending by it; the key only comes back in callbacks. */
  key: string;
  /** The address for status reports, for providers that take it with each message. Others have it registered. */
  callbackUrl?: string;
}

export type TemplateMessage = MessageAddress & { template: Template; params: Record<string, string> };
export type TextMessage = MessageAddress & { text: string };
export type Message = TemplateMessage | TextMessage;

/** `status` is the provider's word, such as accepted, queued or submitted. It never means delivered. */
export type SendResult = { messageId: string; status: string } | MessagingFailure;
export type TemplatesResult = { templates: Template[] } | MessagingFailure;

export type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

export interface MessageEvent {
  /** The id that `send` returned. */
  messageId: string;
  status: MessageStatus;
  /** Epoch ms. */
  at: number;
  /** Set for `failed`. */
  failure?: MessagingFailure;
}

/** A callback: `url` as the provider called it, `body` unchanged. */
export interface CallbackRequest {
  url: string;
  headers: Headers;
  body: string;
}

/** `isUnsigned`: the callback has no valid signature and must be refused. No events: it is about something else. */
export type CallbackResult = { events: MessageEvent[] } | { isUnsigned: true };

/** An account with a provider. No method throws, and no message has a secret. */
export interface MessagingProvider {
  readonly provider: ProviderKey;
  /** The approved templates of all pages. */
  listTemplates(): Promise<TemplatesResult>;
  /** Sends a message with one request, which is never repeated. */
  send(message: Message): Promise<SendResult>;
  readCallback(request: CallbackRequest): CallbackResult;
}

export interface MessagingOptions {
  /** With the version: https://graph.facebook.com/v25.0. */
  metaBaseUrl: string;
  gupshupBaseUrl: string;
  twilioBaseUrl: string;
  twilioContentBaseUrl: string;
  /** For an address that a customer gives. */
  urlPolicy: UrlPolicy;
  /** The timeout of one request; default 15 s. */
  timeoutMs?: number;
  runtime?: Runtime;
}
