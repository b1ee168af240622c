//! Tests of the library and of the files in this repository. They start no process.

mod answers;
mod architecture;
mod compatibility;
mod counts;
mod evidence;
mod lint;
mod properties;
mod reports;
mod schema;
mod security;
mod seeds;
mod sets;
mod site;
mod snapshot_files;
mod typed;
