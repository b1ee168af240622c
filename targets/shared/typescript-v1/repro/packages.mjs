// Makes the programs of this folder import the packages of the target that runs them. Node.js would look for packages
// in the folders above this one, but they are in the folder of the target, beside the program that was started.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const folder = new URL('.', import.meta.url).href;
let started;

// Node.js loads this module again as a hook, in a thread of its own.
if (isMainThread) register(import.meta.url, { data: pathToFileURL(process.argv[1]).href });

export function initialize(program) {
  started = program;
}

export function resolve(specifier, context, next) {
  const isOfTarget = context.parentURL?.startsWith(folder) && !specifier.startsWith('.');
  return next(specifier, isOfTarget ? { ...context, parentURL: started } : context);
}
