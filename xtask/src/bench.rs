//! x
pub(crate) fn run(_: &[&str]) -> crate::Done {
    Ok(())
}
