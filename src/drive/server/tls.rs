//! The configuration of TLS: the roots of the platform, and those of a file.
//!
//! Takes the path of a PEM file, gives a configuration for a client. Must not know URLs or requests.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::file;

/// The number of bytes that are read of a file with roots.
const MOST: usize = 4 << 20;

static NOBODY: LazyLock<ClientConfig> = LazyLock::new(|| {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.expect("the provider has the cipher suites of all versions");
    builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
});

/// The configurations by their files of roots. The roots of the platform are many, and read once.
static KNOWN: Mutex<BTreeMap<Option<Utf8PathBuf>, ClientConfig>> = Mutex::new(BTreeMap::new());

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A configuration that trusts nobody, for connections without TLS.
pub(crate) fn trusting_nobody() -> ClientConfig {
    NOBODY.clone()
}

/// A configuration that trusts the roots of the platform, and those of a file.
///
/// # Errors
/// The reason why there are no roots.
pub(crate) fn trusting(roots: Option<&Utf8Path>) -> Result<ClientConfig, String> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = known.get(&roots.map(Utf8Path::to_owned)) {
        return Ok(config.clone());
    }
    let more = roots.map_or_else(|| Ok(Vec::new()), read)?;
    let refused = |error: rustls::Error| match roots {
        Some(path) => format!("cannot use the certificates in {path}: {error}"),
        None => format!("cannot use the roots of this machine: {error}; install them, or add --cacert FILE"),
    };
    let verifier = Verifier::new_with_extra_roots(more, provider()).map_err(refused)?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("cannot use TLS: {error}"))?;
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    known.insert(roots.map(Utf8Path::to_owned), config.clone());
    Ok(config)
}

/// Reads the certificates of a PEM file.
fn read(path: &Utf8Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = file::read_text(path, MOST).map_err(|error| format!("cannot read {path}: {error}"))?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(format!("{path} has no certificate; --cacert expects a PEM file: -----BEGIN CERTIFICATE-----")),
        Err(error) => Err(format!("{path} is no PEM file with certificates: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::fuzz;

    #[test]
    fn fuzzed_file_of_roots_is_read_or_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("roots.pem")).expect("UTF-8");
        let key = rcgen::KeyPair::generate().expect("a key");
        let root = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let root = root.self_signed(&key).expect("a certificate").pem();
        std::fs::write(&path, &root).expect("written");
        assert_eq!(read(&path).expect("a certificate").len(), 1);
        std::fs::write(&path, key.serialize_pem()).expect("written");
        assert!(read(&path).expect_err("no certificate").contains("has no certificate"));
        fuzz("roots", [root], |bytes| {
            std::fs::write(&path, bytes).expect("written");
            _ = read(&path);
        });
    }
}
