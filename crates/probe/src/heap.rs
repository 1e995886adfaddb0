//! The process's own memory.

/// Gives memory that is free back to the system, after work that needed much of it. It may take milliseconds.
pub fn give_memory_back() {
    #[cfg(target_os = "linux")]
    crate::sys::give_memory_back();
}
