//! The data that an answer needs beside the request, and the parts that all pages have.

use std::time::Duration;

use crate::database::Library;

/// Where the reader is.
pub const PREFIX: &str = "/feeds/";
/// Nothing from elsewhere, and no script or style within the page.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// [`POLICY`] with images from anywhere: the user asked for them.
pub(super) const IMAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src http: https: data:; \
                            media-src http: https:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Slows attempts to guess a password down, where they come from.
pub trait SignInLimit {
    /// How long no password of an account is looked at that comes from there.
    fn wait(&self, account: &str) -> Option<Duration>;
    /// A password of an account was wrong, or right.
    fn note(&self, account: &str, is_right: bool);
}

/// The data that an answer needs beside the request.
pub(crate) struct Scene<'a> {
    pub(crate) library: &'a mut Library,
    pub(crate) limit: &'a dyn SignInLimit,
    pub(crate) now_ms: i64,
}
