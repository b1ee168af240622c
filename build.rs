//! Embeds the cases, the frozen sets, the adapters of `targets/` and the files that these share into the binary.
//!
//! Writes each folder as a list of the paths and lengths of its files, and one compressed file of their bytes, which
//! `src/load/text/bundle.rs` unpacks. Embeds only files of the repository: it skips the files that `.gitignore` lists, which a
//! set-up or a build wrote, and symbolic links. Cargo rebuilds the program if a case is added, changed or removed, or if
//! an embedded file changes; it notices a new file in `targets/` with the next of these changes.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=cases");
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo says where to write"));
    println!("cargo:rerun-if-changed=sets");
    bundle(&root, "cases", &out)?;
    bundle(&root, "sets", &out)?;
    for file in bundle(&root, "targets", &out)? {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    Ok(())
}

/// Writes `FOLDER.rs` and `FOLDER.deflate` with the files of a folder, and gives their paths.
fn bundle(root: &Path, folder: &str, out: &Path) -> io::Result<Vec<PathBuf>> {
    let whole = root.join(folder);
    let mut files = Vec::new();
    if whole.is_dir() {
        collect(&whole, &[Ignored::of(root)], &mut files)?;
    }
    files.sort();
    let mut list = String::from("&[\n");
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    for file in &files {
        let bytes = fs::read(file)?;
        let name = file.strip_prefix(&whole).expect("it is in there");
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let name = name.join("/");
        // In the package of crates.io, `.ci/release/crate` has given manifests another name.
        let name = if name.ends_with("/Cargo.toml.in") { name.trim_end_matches(".in") } else { &name };
        writeln!(list, "({name:?}, {}),", grouped(bytes.len())).expect("writing to a string never fails");
        packed.write_all(&bytes)?;
    }
    list.push(']');
    fs::write(out.join(folder).with_extension("rs"), list)?;
    fs::write(out.join(folder).with_extension("deflate"), packed.finish()?)?;
    Ok(files)
}

fn collect(folder: &Path, above: &[Ignored], files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut ignored = above.to_vec();
    ignored.push(Ignored::of(folder));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if ignored.iter().any(|one| one.has(&path)) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, &ignored, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The patterns of a `.gitignore`: names, with at most one `*`, and with a leading `/` for names in the same folder.
#[derive(Clone)]
struct Ignored {
    folder: PathBuf,
    patterns: Vec<String>,
}

impl Ignored {
    fn of(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(".gitignore")).unwrap_or_default();
        let lines = text.lines().map(|line| line.trim().trim_end_matches('/'));
        let patterns: Vec<_> =
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
        for pattern in &patterns {
            let understood = !pattern.starts_with('!') && !pattern.trim_start_matches('/').contains(['/', '?', '[']);
            assert!(understood, "build.rs doesn't understand `{pattern}` in {}/.gitignore", folder.display());
        }
        Self { folder: folder.to_owned(), patterns }
    }

    fn has(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.patterns.iter().any(|pattern| match pattern.strip_prefix('/') {
            Some(own) => path.parent() == Some(&self.folder) && is_like(own, &name),
            None => is_like(pattern, &name),
        })
    }
}

fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    }
}

/// Returns a number as a literal with separators, as the linter wants it.
fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{}_{:03}", grouped(number / 1000), number % 1000) }
}
