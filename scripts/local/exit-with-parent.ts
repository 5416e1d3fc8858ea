import process from 'node:process';

/**
 * Preloaded into a child (`node --import`), or imported: a process whose parent is gone gets the signal that the parent can no longer send.
 * Without it a killed `npm start` would leave a service behind that works on the same state folder as the next one.
 */
const parent = process.ppid;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
}, 500).unref();
