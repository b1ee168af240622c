import '../../shared/typescript-v1/repro/packages.mjs';

await import('../../shared/typescript-v1/repro/zod-trim.mjs');
