/** A request that is ready to send: an absolute URL with its query, and signature headers. The signing secret is not part of it. */
export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
  timeout_seconds: number;
}

export type OutboundResponse =
  /** Names of `headers` are lower-case; `body` is decoded text. `is_cut`: the transport has cut the body. */
  | { status: number; headers: Record<string, string>; body: string; is_cut: boolean }
  /** No response. `network`: another try may succeed. `refused`: the address must not be called. */
  | { failure: 'network' | 'refused'; message: string };
