import { vi } from 'vitest';

/** A busy machine is slow, and Vitest waits for a second by default. What never comes still fails, only later. */
const minTimeoutMs = 20_000;

type Patient = typeof vi.waitFor & { isPatient?: boolean };

// The files of a project share one `vi`.
if (!(vi.waitFor as Patient).isPatient) {
  const { waitFor } = vi;
  const patient: Patient = (callback, options = {}) => {
    const { timeout = 0, ...others } = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(callback, { ...others, timeout: Math.max(timeout, minTimeoutMs) });
  };
  patient.isPatient = true;
  vi.waitFor = patient;
}
