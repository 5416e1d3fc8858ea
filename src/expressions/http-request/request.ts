/** Ready to send: absolute URL with its query, signature headers included. It holds no signing secret. */
export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
  timeout_seconds: number;
}

export type OutboundResponse =
  /** `headers` have lower-case names; `body` is decoded text, perhaps cut by the transport (`is_cut`). */
  | { status: number; headers: Record<string, string>; body: string; is_cut: boolean }
  /** No answer: `network` (may be tried again) or `refused` (an address that may not be called; never will be). */
  | { failure: 'network' | 'refused'; message: string };
