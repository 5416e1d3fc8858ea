/** The runtime functions that requests to vendors use; tests replace them. Times in milliseconds. */
export interface Runtime {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  sleep(milliseconds: number): Promise<void>;
  random(): number;
  now(): number;
}

export const systemRuntime: Runtime = {
  fetch: (input, init) => fetch(input, init),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: Math.random,
  now: Date.now,
};
