//! The process's own memory.

/// Gives memory that is free back to the system, after work that needed much of it. It may take milliseconds.
pub fn give_memory_back() {
    #[cfg(target_os = "linux")]
    crate::sys::give_memory_back();
}

/// Lets all threads take memory from the same place and give it back there; before other threads are started. Each would keep what it has
/// freed to itself otherwise, while others ask the system for more.
pub fn share_one_arena() {
    #[cfg(target_os = "linux")]
    crate::sys::share_one_arena();
}
