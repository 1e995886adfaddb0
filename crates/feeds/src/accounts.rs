//! Accounts, passwords and sessions.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use blake2::{Blake2s256, Digest as _};
use rusqlite::{OptionalExtension as _, params};

use crate::database::Library;
use crate::digest::hex_digest;
use crate::error::FeedError;

/// Argon2id with 7 MiB and five passes, one of the settings that OWASP's Password Storage Cheat Sheet calls equal; it is the one with
/// the least memory.
const MEMORY_KIB: u32 = 7168;
const PASSES: u32 = 5;
/// A shorter password is refused.
const MIN_PASSWORD_BYTES: usize = 8;
/// A longer one, too: hashing takes time by its length.
const MAX_PASSWORD_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 64;
/// A session ends after this; 30 days.
pub(crate) const MAX_SESSION_MS: i64 = 30 * 86_400_000;
/// Sessions of one account in browsers, and as many in programs; a new one ends the oldest of its kind.
const MAX_SESSIONS: i64 = 64;

/// An account of the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub(crate) id: i64,
    /// The name, which the owner signs in with.
    pub name: String,
}

/// Where a session is: some programs begin one whenever they synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionKind {
    Browser,
    Program,
}

impl Library {
    /// Creates an account.
    ///
    /// # Errors
    /// If the name is taken or malformed, or the password too short.
    pub fn add_account(&mut self, name: &str, password: &str, now_ms: i64) -> Result<Account, FeedError> {
        self.check_new_name(name)?;
        let hash = hash(password)?;
        self.connection.execute(
            "INSERT INTO accounts (name, password, created_ms) VALUES (?1, ?2, ?3)",
            params![name, hash, now_ms],
        )?;
        Ok(Account { id: self.connection.last_insert_rowid(), name: name.to_owned() })
    }

    /// Checks that a new account may have a name.
    ///
    /// # Errors
    /// If it is taken or malformed.
    pub fn check_new_name(&self, name: &str) -> Result<(), FeedError> {
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '@');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_name) {
            return Err(FeedError::refused(format!(
                "an account's name has 1 to {MAX_NAME_BYTES} letters, digits, and . _ - @"
            )));
        }
        if self.account(name)?.is_some() {
            return Err(FeedError::refused(format!("there is an account \"{name}\" already")));
        }
        Ok(())
    }

    /// Sets another password, and ends all sessions of the account.
    ///
    /// # Errors
    /// If the password is too short, or the library cannot be written.
    pub fn set_password(&mut self, account: &Account, password: &str) -> Result<(), FeedError> {
        let hash = hash(password)?;
        let transaction = self.connection.transaction()?;
        transaction.execute("UPDATE accounts SET password = ?2 WHERE id = ?1", params![account.id, hash])?;
        transaction.execute("DELETE FROM sessions WHERE account = ?1", [account.id])?;
        Ok(transaction.commit()?)
    }

    /// Removes an account with its subscriptions and marks.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn remove_account(&mut self, account: &Account) -> Result<(), FeedError> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM accounts WHERE id = ?1", [account.id])?;
        crate::retention::remove_unused(&transaction)?;
        Ok(transaction.commit()?)
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn accounts(&self) -> Result<Vec<Account>, FeedError> {
        let mut statement = self.connection.prepare_cached("SELECT id, name FROM accounts ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok(Account { id: row.get(0)?, name: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The account of a name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn account(&self, name: &str) -> Result<Option<Account>, FeedError> {
        let mut statement =
            self.connection.prepare_cached("SELECT id, name FROM accounts WHERE name = ?1")?;
        Ok(statement
            .query_row([name], |row| Ok(Account { id: row.get(0)?, name: row.get(1)? }))
            .optional()?)
    }

    /// The account of a name and its password. An unknown name takes as long as a wrong password.
    ///
    /// # Errors
    /// If accounts cannot be read.
    pub(crate) fn verify(&self, name: &str, password: &str) -> Result<Option<Account>, FeedError> {
        // The hash of no password: verifying it takes as long as verifying any other.
        const UNMATCHED: &str =
            "$argon2id$v=19$m=7168,t=5,p=1$d2hpdHdoaXR3aGl0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let mut statement =
            self.connection.prepare_cached("SELECT password FROM accounts WHERE name = ?1")?;
        let stored: Option<String> = statement.query_row([name], |row| row.get(0)).optional()?;
        let hash = PasswordHash::new(stored.as_deref().unwrap_or(UNMATCHED))
            .map_err(|_| FeedError::refused("the stored password is damaged: set it again"))?;
        let is_right = password.len() <= MAX_PASSWORD_BYTES
            && Argon2::default().verify_password(password.as_bytes(), &hash).is_ok();
        // Hashing needs more memory than the rest of the reader.
        probe::heap::give_memory_back();
        if is_right && stored.is_some() { self.account(name) } else { Ok(None) }
    }

    /// Begins a session, and returns its token. The library has its digest alone.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn begin_session(
        &mut self,
        account: &Account,
        kind: SessionKind,
        now_ms: i64,
    ) -> Result<String, FeedError> {
        let is_program = kind == SessionKind::Program;
        let token = format!("{}{}", probe::random::hex(), probe::random::hex());
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM sessions WHERE created_ms < ?1", [now_ms - MAX_SESSION_MS])?;
        transaction.execute(
            "INSERT INTO sessions (digest, account, created_ms, is_program) VALUES (?1, ?2, ?3, ?4)",
            params![digest(&token), account.id, now_ms, is_program],
        )?;
        transaction.execute(
            "DELETE FROM sessions WHERE digest IN
             (SELECT digest FROM sessions WHERE account = ?1 AND is_program = ?2 ORDER BY created_ms DESC LIMIT -1 OFFSET ?3)",
            params![account.id, is_program, MAX_SESSIONS],
        )?;
        transaction.commit()?;
        Ok(token)
    }

    /// The account that a session's token belongs to.
    ///
    /// # Errors
    /// If sessions cannot be read.
    pub(crate) fn account_of_session(&self, token: &str, now_ms: i64) -> Result<Option<Account>, FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT accounts.id, accounts.name FROM sessions JOIN accounts ON accounts.id = sessions.account
             WHERE digest = ?1 AND sessions.created_ms > ?2",
        )?;
        let account = statement.query_row(params![digest(token), now_ms - MAX_SESSION_MS], |row| {
            Ok(Account { id: row.get(0)?, name: row.get(1)? })
        });
        Ok(account.optional()?)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub(crate) fn end_session(&mut self, token: &str) -> Result<(), FeedError> {
        self.connection.execute("DELETE FROM sessions WHERE digest = ?1", params![digest(token)])?;
        Ok(())
    }
}

/// Returns the digest of a token. A token has 128 random bits, so that a fast digest will do.
fn digest(token: &str) -> Vec<u8> {
    Blake2s256::digest(token.as_bytes()).to_vec()
}

/// Returns the token that a form of a session must contain: pages of other origins cannot know it.
pub(crate) fn form_token(session: &str) -> String {
    hex_digest(&[b"form", session.as_bytes()], 16)
}

fn hash(password: &str) -> Result<String, FeedError> {
    if !(MIN_PASSWORD_BYTES..=MAX_PASSWORD_BYTES).contains(&password.len()) {
        return Err(FeedError::refused(format!(
            "a password has {MIN_PASSWORD_BYTES} to {MAX_PASSWORD_BYTES} bytes"
        )));
    }
    let failed = |_| FeedError::refused("the password cannot be hashed");
    let parameters = Params::new(MEMORY_KIB, PASSES, 1, None)
        .map_err(|_| FeedError::refused("the password cannot be hashed"))?;
    let random = [probe::random::number().to_le_bytes(), probe::random::number().to_le_bytes()].concat();
    let salt = SaltString::encode_b64(&random).map_err(failed)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
    Ok(argon2.hash_password(password.as_bytes(), &salt).map_err(failed)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_opens_its_own_account_alone() {
        let mut library = Library::in_memory();
        let ann = library.add_account("ann", "correct horse", 0).unwrap();
        library.add_account("bob", "battery staple", 0).unwrap();
        assert_eq!(library.verify("ann", "correct horse").unwrap(), Some(ann));
        assert_eq!(library.verify("bob", "correct horse").unwrap(), None);
        assert_eq!(library.verify("eve", "correct horse").unwrap(), None);
        assert!(library.add_account("ann", "another one", 0).is_err());
        assert!(library.add_account("a b", "another one", 0).is_err());
        assert!(library.add_account("carl", "short", 0).is_err());
    }

    #[test]
    fn a_session_ends_by_itself_or_with_a_new_password() {
        let mut library = Library::in_memory();
        let ann = library.add_account("ann", "correct horse", 0).unwrap();
        let token = library.begin_session(&ann, SessionKind::Program, 1000).unwrap();
        assert_eq!(library.account_of_session(&token, 2000).unwrap(), Some(ann.clone()));
        assert_eq!(library.account_of_session(&token[1..], 2000).unwrap(), None);
        assert_eq!(library.account_of_session(&token, 1001 + MAX_SESSION_MS).unwrap(), None);
        library.set_password(&ann, "battery staple").unwrap();
        assert_eq!(library.account_of_session(&token, 2000).unwrap(), None);
        let browser = library.begin_session(&ann, SessionKind::Browser, 2500).unwrap();
        for _ in 0..2 * MAX_SESSIONS {
            library.begin_session(&ann, SessionKind::Program, 3000).unwrap();
        }
        assert_eq!(library.account_of_session(&browser, 3000).unwrap(), Some(ann));
        let count: i64 =
            library.connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
        assert_eq!(count, MAX_SESSIONS + 1);
    }
}
