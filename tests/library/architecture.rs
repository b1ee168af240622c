//! Rules of the architecture that the compiler does not check: imports between parts, uses of clocks, sockets and output,
//! and the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, Path, UseName, UseRename, UseTree};

/// The other parts of `src/` that each part may use. All may use `file`.
const KNOWS: [(&str, &[&str]); 14] = [
    ("jsonrpc", &[]),
    ("file", &[]),
    ("model", &["jsonrpc"]),
    ("load", &["jsonrpc", "model"]),
    ("import", &["jsonrpc", "model", "load"]),
    ("plan", &["model"]),
    ("set", &["model", "plan"]),
    ("drive", &["jsonrpc", "model", "plan"]),
    ("judge", &["jsonrpc", "model"]),
    ("report", &["jsonrpc", "model"]),
    ("run", &["jsonrpc", "model", "plan", "drive", "judge"]),
    ("proof", &["model", "plan", "drive", "judge", "report", "run", "reference"]),
    ("trials", &["model", "load", "plan", "drive", "judge", "report", "run"]),
    ("main", &["cli"]),
];

/// Additional parts that the tests of a part may use, for samples and embedded cases.
const KNOWS_IN_TESTS: [(&str, &[&str]); 8] = [
    ("proof", &["load"]),
    ("model", &["judge", "load"]),
    ("plan", &["judge", "load"]),
    ("drive", &["judge", "load"]),
    ("judge", &["load"]),
    ("report", &["judge", "load", "run"]),
    ("run", &["load", "report"]),
    ("load", &["import"]),
];

/// The folders in which modules may use each other in both directions, with the reason.
const MUTUAL: [(&str, &str); 1] =
    [("drive/client/mock", "the server dispatches to its tools, and their dialogs go on through the server")];

/// Pure parts: they use no runtime, clock, socket or process.
const PURE: [&str; 6] = ["model", "load", "plan", "set", "judge", "report"];

/// Names that may occur in `targets/`, but not in `src/`.
const SDKS: [&str; 9] =
    ["typescript", "python", "fastmcp", "fast-agent", "rmcp", "go-sdk", "kotlin", "java-sdk", "ruby"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of `src/`, by their paths below it, and those of the reference, below `reference/`.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &std::path::Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("src/ can be listed") {
            let path = entry.expect("src/ can be listed").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let of = |folder: &str, part: &str| {
        let folder = root().join(folder);
        let mut paths = Vec::new();
        walk(&folder, &mut paths);
        paths.sort();
        assert!(paths.len() > 15, "{} was not found", folder.display());
        let read = |path: PathBuf| {
            let name = path.strip_prefix(&folder).expect("below it").to_string_lossy().replace('\\', "/");
            (format!("{part}{name}"), fs::read_to_string(&path).expect("a source file is UTF-8"))
        };
        paths.into_iter().map(read).collect::<Vec<_>>()
    };
    [of("src", ""), of("reference/src", "reference/")].concat()
}

/// The part of `src/` that a file belongs to.
fn part(name: &str) -> &str {
    name.split(['/', '.']).next().expect("a name has a first part")
}

/// The lines of code, without comments and tests inside the file.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = [text.find("\n#[cfg(test)]\nmod tests"), text.find("\n#[cfg(all(test, ")];
    let end = tests.into_iter().flatten().min().unwrap_or(text.len());
    text[..end].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn parts_use_only_permitted_parts() {
    let mut broken = Vec::new();
    for import in imports() {
        let (own, used) = (import.from[0].as_str(), import.to[0].as_str());
        let Some((_, knows)) = KNOWS.iter().find(|(part, _)| *part == own) else { continue };
        let in_tests = KNOWS_IN_TESTS.iter().filter(|(part, _)| *part == own && import.in_test);
        let may = |part: &str| [own, "file"].contains(&part) || part == "fuzz" && import.in_test;
        if !may(used) && !knows.iter().chain(in_tests.flat_map(|(_, knows)| *knows)).any(|part| *part == used) {
            broken.push(format!("{}: `{own}` must not use `{used}`", import.place));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn modules_of_a_folder_have_no_import_cycles() {
    let imports = imports();
    let folders: BTreeSet<&[String]> =
        imports.iter().flat_map(|import| (1..import.from.len()).map(|depth| &import.from[..depth])).collect();
    assert!(folders.len() > 10, "folders are not found");
    for folder in folders {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for import in imports.iter().filter(|import| import.from.starts_with(folder) && import.to.starts_with(folder)) {
            if let (Some(one), Some(other)) = (import.from.get(folder.len()), import.to.get(folder.len()))
                && one != other
            {
                // No module uses the tests of another one, so that tests cannot be part of a cycle.
                let one = if import.in_test { format!("{one} (tests)") } else { one.clone() };
                uses.entry(one).or_default().insert(other.clone());
            }
        }
        // Remove modules that use no remaining module, until only cycles remain.
        while let Some(free) = uses.iter().find(|(_, used)| !used.iter().any(|one| uses.contains_key(one))) {
            let free = free.0.clone();
            uses.remove(&free);
        }
        let folder = folder.join("/");
        let may = MUTUAL.iter().any(|(one, _)| *one == folder);
        assert!(uses.is_empty() || may, "in src/{folder} these modules use each other in a cycle: {uses:#?}");
        assert!(
            !uses.is_empty() || !may,
            "the modules of src/{folder} have no cycle any more: remove the folder from MUTUAL"
        );
    }
}

#[test]
fn drive_imports_items_from_their_defining_module() {
    let via_entrance = |import: &&Import| import.from[0] == "drive" && import.from.len() > 1 && import.to == ["drive"];
    let broken: Vec<_> = imports().iter().filter(via_entrance).map(|import| import.place.clone()).collect();
    assert!(broken.is_empty(), "inside of drive, import from the defining module instead of drive/mod.rs: {broken:#?}");
}

#[test]
fn drive_mod_files_contain_no_logic() {
    for (name, text) in sources().into_iter().filter(|(name, _)| name.starts_with("drive/") && name.ends_with("mod.rs"))
    {
        let items = syn::parse_file(&text).expect("a source file is Rust").items;
        let is_reexport =
            |item: &Item| matches!(item, Item::Use(_)) || matches!(item, Item::Mod(inner) if inner.content.is_none());
        assert!(items.iter().all(is_reexport), "src/{name} contains more than modules and re-exports");
    }
}

/// One use of a module by another.
struct Import {
    /// The using module: its path below the crate.
    from: Vec<String>,
    /// The used module.
    to: Vec<String>,
    in_test: bool,
    /// File and line.
    place: String,
}

/// All paths in `use` items, code and macros that refer to a module of this crate.
fn imports() -> Vec<Import> {
    let sources = sources();
    let module = |name: &str| -> Vec<String> {
        let name = name.trim_end_matches(".rs").trim_end_matches("/mod");
        if name == "lib" { Vec::new() } else { name.split('/').map(str::to_owned).collect() }
    };
    let modules: BTreeSet<Vec<String>> = sources.iter().map(|(name, _)| module(name)).collect();
    let mut found = Vec::new();
    for (name, text) in
        sources.iter().filter(|(name, _)| name != "main.rs" && name != "lib.rs" && part(name) != "reference")
    {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("src/{name}: {error}"));
        let own = module(name);
        let in_test = name.ends_with("tests.rs") || name.ends_with("samples.rs") || name.ends_with("scripted.rs");
        let mut paths = Paths { own: own.clone(), modules: &modules, in_test, found: Vec::new() };
        paths.visit_file(&file);
        found.extend(paths.found.into_iter().map(|(in_test, to)| Import {
            from: own.clone(),
            place: format!("src/{name} (crate::{})", to.join("::")),
            to,
            in_test,
        }));
    }
    assert!(found.len() > 500, "paths are not found");
    found
}

struct Paths<'m> {
    /// The current module, including modules inside of its file.
    own: Vec<String>,
    modules: &'m BTreeSet<Vec<String>>,
    in_test: bool,
    found: Vec<(bool, Vec<String>)>,
}

impl Paths<'_> {
    /// Records the module that a path refers to, if it is one of this crate.
    fn note(&mut self, path: &[String]) {
        let mut at = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            // The reference is a separate crate.
            Some("reference") => return self.found.push((self.in_test, vec!["reference".to_owned()])),
            Some("self" | "super") => self.own.clone(),
            Some(first) if self.modules.contains(&[self.own.as_slice(), &[first.to_owned()]].concat()) => {
                self.own.clone()
            }
            _ => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                part => {
                    at.push(part.to_owned());
                    if !self.modules.contains(&at) {
                        at.pop();
                        break;
                    }
                }
            }
        }
        // Modules inside of a file belong to the module of the file.
        while !at.is_empty() && !self.modules.contains(&at) {
            at.pop();
        }
        if !at.is_empty() {
            self.found.push((self.in_test, at));
        }
    }

    fn tree(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.tree(&inner.tree, path);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, path)),
            UseTree::Name(UseName { ident }) | UseTree::Rename(UseRename { ident, .. }) => {
                let whole = [path.as_slice(), &[ident.to_string()]].concat();
                self.note(&whole);
            }
            UseTree::Glob(_) => self.note(path),
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        for token in tokens.into_iter().chain([TokenTree::Punct(Punct::new(';', Spacing::Alone))]) {
            match token {
                TokenTree::Ident(ident) => {
                    path.push(ident.to_string());
                    continue;
                }
                TokenTree::Punct(colon) if colon.as_char() == ':' => continue,
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
            if matches!(path.first().map(String::as_str), Some("crate" | "super" | "self")) && path.len() > 1 {
                self.note(&path);
            }
            path.clear();
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let before = self.in_test;
        let is_test = |one: &Attribute| {
            one.path().is_ident("cfg")
                && matches!(&one.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
        };
        self.in_test |= module.attrs.iter().any(is_test);
        self.own.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.own.pop();
        self.in_test = before;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&names);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.tokens(item.tokens.clone());
    }
}

#[test]
fn pure_parts_use_no_runtime_clock_socket_or_process() {
    let mut broken = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| PURE.contains(&part(name))) {
        let mut forbidden =
            vec!["tokio", "reqwest", "hyper", "std::net", "std::process", "std::time::Instant", "SystemTime"];
        if ["model", "judge", "plan"].contains(&part(&name)) {
            forbidden.push("std::fs");
        }
        for (number, line) in code(&text) {
            for word in forbidden.iter().filter(|word| line.contains(**word)) {
                broken.push(format!("src/{name}:{}: a pure part uses `{word}`", number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn source_names_no_sdk() {
    /// A list of programs, some of which have the names of languages, and two texts with example commands.
    const MAY: [&str; 3] = ["model/program.rs", "cli/args.rs", "report/terminal/summary.rs"];
    for (name, text) in sources().into_iter().filter(|(name, _)| !MAY.contains(&name.as_str())) {
        let text = text.to_lowercase();
        for sdk in SDKS {
            assert!(!text.contains(sdk), "src/{name} names `{sdk}`: everything about a target belongs into its folder");
        }
    }
}

#[test]
fn source_files_are_short_and_documented() {
    for (name, text) in sources() {
        // The table of mutants is data.
        let is_bounded = name == "reference/mutants/table.rs" || text.lines().count() <= 600;
        assert!(is_bounded, "src/{name} has more than 600 lines");
        assert!(text.starts_with("//!"), "src/{name} has no module documentation");
    }
}

#[test]
fn import_paths_are_found_in_every_form() {
    let text = "use crate::{drive as other, load::{self, case}};
        use super::plan::*;
        fn f() { crate::run::go(); json!({ \"a\": crate::judge::x(1) }); }
        #[cfg(test)] mod tests { use super::super::report::Report; }";
    let module = |name: &str| vec![name.to_owned()];
    let modules = ["a", "drive", "load", "plan", "run", "judge", "report"].map(module).into();
    let mut paths = Paths { own: module("a"), modules: &modules, in_test: false, found: Vec::new() };
    paths.visit_file(&syn::parse_str(text).expect("Rust"));
    let found: Vec<_> = paths.found.iter().map(|(in_test, to)| (*in_test, to[0].as_str())).collect();
    let expected = [
        (false, "drive"),
        (false, "load"),
        (false, "load"),
        (false, "plan"),
        (false, "run"),
        (false, "judge"),
        (true, "report"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn driver_spawns_tasks_only_through_the_fault_module() {
    let drivers = sources().into_iter().filter(|(name, _)| part(name) == "drive");
    for (name, text) in drivers.filter(|(name, _)| !name.ends_with("tests.rs") && name != "drive/server/scripted.rs") {
        for (number, line) in code(&text).filter(|_| name != "drive/fault.rs") {
            let is_loose = line.contains("tokio::spawn") || line.contains("spawn_blocking");
            assert!(
                !is_loose,
                "src/{name}:{}: a panic in this task would look like a fault of the target: use drive/fault.rs",
                number + 1
            );
        }
    }
}

#[test]
fn connections_are_opened_only_in_listed_files() {
    /// These files connect only to addresses on this machine, or to the configured address of a fixed target.
    const MAY: [&str; 8] = [
        "drive/server/http.rs",
        "drive/canary.rs",
        "drive/client/mock/stdio.rs",
        "drive/pair/http.rs",
        "reference/fetch.rs",
        "reference/client/http.rs",
        "reference/server/effects.rs",
        "reference/server/stdio.rs",
    ];
    for (name, text) in sources().into_iter().filter(|(name, _)| !name.ends_with("tests.rs")) {
        for (number, line) in
            code(&text).filter(|_| !MAY.contains(&name.as_str()) && name != "drive/server/scripted.rs")
        {
            for opener in [
                "TcpStream::connect",
                "Client::builder",
                "Client::new",
                "UdpSocket",
                "UnixStream",
                "lookup_host",
                "to_socket_addrs",
            ] {
                assert!(!line.contains(opener), "src/{name}:{}: only {MAY:?} may open connections", number + 1);
            }
        }
    }
}

#[test]
fn only_one_module_writes_standard_output_and_error() {
    /// The printer, which escapes text from outside; a relay, whose standard output carries messages; and the log of the
    /// fuzzing tests.
    const MAY: [&str; 4] =
        ["report/terminal/plain.rs", "report/terminal/mod.rs", "drive/client/mock/stdio.rs", "fuzz.rs"];
    // The reference is a separate process, whose standard output carries messages.
    let others = sources().into_iter().filter(|(name, _)| !MAY.contains(&name.as_str()) && part(name) != "reference");
    for (name, text) in others.filter(|(name, _)| !name.ends_with("tests.rs")) {
        for (number, line) in code(&text) {
            for printer in ["println!", "print!(", "stdout()", "stderr()", "anstream::", "io::stdout", "io::stderr"] {
                // `.stderr()` on a child process is its output.
                let is_child = printer.starts_with("std") && line.contains(&format!(".{printer}"));
                let is_printed = line.contains(printer) && !is_child;
                assert!(!is_printed, "src/{name}:{}: only report/terminal/plain.rs may print text", number + 1);
            }
        }
    }
}

#[test]
fn listeners_bind_only_loopback_addresses() {
    for (name, text) in sources() {
        let binds = |line: &str| line.contains("Listener::bind(") || line.contains("socket.bind(");
        for (number, line) in code(&text).filter(|(_, line)| binds(line)) {
            let is_loopback = line.contains("Ipv4Addr::LOCALHOST") || line.contains("\"127.0.0.1:0\"");
            assert!(is_loopback, "src/{name}:{}: {line}", number + 1);
        }
    }
}
