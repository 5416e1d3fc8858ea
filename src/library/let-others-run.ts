/** Between two slices of long work: requests that came meanwhile are answered first. */
export const letOthersRun = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
