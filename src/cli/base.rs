//! What commands share: options, targets and set-up, signals, files and exit statuses. Must not know a command.

pub(super) mod built;
pub(super) mod by_hand;
pub(super) mod caches;
pub(super) mod chosen;
pub(super) mod descriptors;
pub(super) mod exit;
pub(super) mod header;
pub(super) mod heading;
pub(super) mod here;
pub(super) mod interrupt;
pub(super) mod limits;
pub(super) mod lines;
pub(super) mod logs;
pub(super) mod needs;
pub(super) mod outputs;
pub(super) mod problem;
pub(super) mod releases;
pub(super) mod results;
pub(super) mod saving;
pub(super) mod set_up;
pub(super) mod snapshots;
pub(super) mod sources;
pub(super) mod values;
