//! A feed of a list of subscriptions.

/// A feed of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The feed's address.
    pub url: String,
    /// Its name; empty: none.
    pub title: String,
    /// The folder that it is in; empty: none. Of folders in folders it is the innermost one.
    pub folder: String,
    /// The address of its pages; empty: unknown.
    pub site: String,
}
