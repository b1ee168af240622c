//! What differs between the releases of the SDK. `build.rs` sets the conditions.

use rmcp::model::{ProtocolVersion, RequestStateCodec, RequestStateError};

// 3.4 renamed them.
#[cfg(rmcp_since = "3.4.0")]
pub use rmcp::model::{ClientConfig, ServerConfig};
#[cfg(not(rmcp_since = "3.4.0"))]
pub use rmcp::model::{ClientInfo as ClientConfig, ServerInfo as ServerConfig};

/// The version of the SDK.
pub const RMCP: &str = env!("RMCP_VERSION");

/// Whether a revision has `initialize`. 3.5 has a method for that.
pub fn has_initialize(version: &ProtocolVersion) -> bool {
    #[cfg(rmcp_since = "3.5.0")]
    return version.has_initialize();
    #[cfg(not(rmcp_since = "3.5.0"))]
    return version < &ProtocolVersion::V_2026_07_28;
}

/// The codec for states. 3.1.4 checks the length of the key.
pub fn state_codec(key: &'static [u8]) -> Result<RequestStateCodec, RequestStateError> {
    #[cfg(rmcp_since = "3.1.4")]
    return RequestStateCodec::try_new(key);
    #[cfg(not(rmcp_since = "3.1.4"))]
    return Ok(RequestStateCodec::new(key));
}
