//! Tests of the library, and of the files of this repository, in which no process is started.

mod architecture;
mod lint;
mod properties;
mod reports;
mod schema;
mod security;
mod snapshot_files;
