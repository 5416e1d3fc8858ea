/** An order that the tour sent, and what must follow from it. */
export interface Order {
  orderId: string;
  /** Where it came from, in words. */
  from: string;
  amount: string;
  outcome: 'thanked' | 'noted';
}

/** What the tour reads of a run. */
export interface Run {
  id: number;
  state: string;
  outcome: string | null;
  current_node_id: string | null;
  contact_id: number | null;
  initial_context: Record<string, unknown>;
  error: { node_id: string | null; type: string; message: string } | null;
  started_at: string;
  completed_at: string | null;
}

export const hasEnded = (run: Run): boolean => run.completed_at !== null;

/** The runs of each order. Ids are compared as text: those beyond 2^53 are strings wherever the service shows them. */
export function findRunsOfOrders(orders: Order[], runs: Run[]): Map<Order, Run[]> {
  return new Map(orders.map((order) => [order, runs.filter((run) => run.initial_context.order_id === order.orderId)]));
}

/** Why the runs are not what the orders ask for, one sentence each: every order starts exactly one run, and the run takes its way. */
export function findProblems(runs: Map<Order, Run[]>): string[] {
  return [...runs].flatMap(([order, own]) => {
    const [run] = own;
    if (run === undefined) return [`order ${order.orderId} started no run`];
    if (own.length > 1) return [`order ${order.orderId} started ${own.length} runs instead of one`];
    if (run.error) return [`run ${run.id} is ${run.state}: ${run.error.type} at ${run.error.node_id ?? 'the start'}: ${run.error.message}`];
    if (!hasEnded(run)) return [`run ${run.id} is still ${run.state} at ${run.current_node_id ?? 'the start'}`];
    return run.outcome === order.outcome ? [] : [`run ${run.id} is ${run.state} with outcome ${run.outcome} instead of ${order.outcome}`];
  });
}
