import { existsSync, readFileSync } from 'node:fs';

interface Manifest {
  name?: string;
  version?: string;
}

/**
 * Returns the version of an installed package, also of a checkout that `npm link` put there.
 *
 * @param name - the name of the package
 * @param entry - the URL of one of its modules
 */
export function packageVersion(name: string, entry: string): string {
  let folder = new URL('.', entry);
  for (;;) {
    const path = new URL('package.json', folder);
    // Packages have further files of this name, which only state the type of the modules beside them.
    const manifest: Manifest = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {};
    if (manifest.name === name && manifest.version !== undefined) return manifest.version;
    const parent = new URL('..', folder);
    if (parent.href === folder.href) throw new Error(`cannot find the package.json of ${name}`);
    folder = parent;
  }
}
