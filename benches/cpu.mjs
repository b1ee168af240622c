// Loaded into the process of the official suite, this file writes the processor time of that process when it exits.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.CPU_FILE, `${(user + system) / 1e6}`);
});
