/** What the tour reads of a history record. */
export interface HistoryRecord {
  node_id: string;
  node_name: string | null;
  status: string;
}

/** The way that a run took, such as `An order came in > Is it large? > Thanked`. Retries and failures are said. */
export function describePath(history: HistoryRecord[]): string {
  return history
    .map(({ node_id, node_name, status }) => `${node_name ?? node_id}${status === 'completed' ? '' : ` (${status})`}`)
    .join(' > ');
}
