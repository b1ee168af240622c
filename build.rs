//! The cases are embedded into the binary: a new, changed or removed case file rebuilds it.

fn main() {
    println!("cargo:rerun-if-changed=cases");
}
