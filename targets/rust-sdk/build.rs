//! Tells the adapter which release of the SDK it is built with: Cargo has no such information for dependents.

use std::{error::Error, fs};

/// The releases that changed what the adapter uses. `cfg(rmcp_since = "…")` holds on the release and on later ones.
const CHANGES: [&str; 3] = ["3.1.4", "3.4.0", "3.5.0"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock")?;
    let (_, entry) = lock.split_once("name = \"rmcp\"\nversion = \"").ok_or("rmcp is not in Cargo.lock")?;
    let version = entry.split('"').next().unwrap_or_default();
    println!("cargo::rustc-env=RMCP_VERSION={version}");
    for change in CHANGES {
        println!("cargo::rustc-check-cfg=cfg(rmcp_since, values({change:?}))");
        if numbers(version) >= numbers(change) {
            println!("cargo::rustc-cfg=rmcp_since={change:?}");
        }
    }
    Ok(())
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|number| number.parse().ok()).collect()
}
