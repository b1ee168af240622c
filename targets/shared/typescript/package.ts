import { existsSync, readFileSync } from 'node:fs';

interface Manifest {
  name?: string;
  version?: string;
}

/**
 * Returns the name and the version of an installed package, also of a checkout that `npm link` put there.
 *
 * @param entry - the URL of one of its modules
 */
export function installedPackage(entry: string): Required<Manifest> {
  let folder = new URL('.', entry);
  for (;;) {
    const path = new URL('package.json', folder);
    // Packages have further files of this name, which only state the type of the modules beside them.
    const manifest: Manifest = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {};
    const { name, version } = manifest;
    if (name !== undefined && version !== undefined) return { name, version };
    const parent = new URL('..', folder);
    if (parent.href === folder.href) throw new Error(`cannot find the package.json of ${entry}`);
    folder = parent;
  }
}
