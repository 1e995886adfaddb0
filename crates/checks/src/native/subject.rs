//! What native checks look at.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::state::State;

/// A native check.
#[derive(Clone, Debug, PartialEq)]
pub enum Native {
    /// An expression over the recorded series.
    Expression(ExpressionCheck),
    /// A server listens at this `HOST:PORT`.
    Tcp(String),
    /// A web server answers.
    Http(HttpCheck),
    /// A name has an address.
    Name(NameCheck),
    /// A host answers echo requests of ICMP.
    Ping(PingCheck),
    /// The certificate of a TLS server is trusted, and does not expire soon.
    Certificate(CertificateCheck),
    /// The unit of systemd with this name is active, or none of those that match a pattern failed.
    Unit(String),
    /// The age and size of a file, or the number of files in a directory.
    File(FileCheck),
    /// How many processes have a name.
    Process {
        /// As the kernel has it: 15 letters.
        name: String,
        /// Fewer are critical.
        least: u64,
        /// More are critical.
        most: Option<u64>,
    },
}

/// An expression: each series of its answer is a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionCheck {
    /// PromQL.
    pub expression: String,
    /// The state if there is a series.
    pub state: State,
    /// A series counts if it was in the answer for so long without a gap.
    pub hold: Duration,
}

/// A name in the DNS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCheck {
    /// The name.
    pub name: String,
    /// It must have these addresses, and may have others.
    pub addresses: Vec<IpAddr>,
    /// A slower answer is a warning.
    pub slow: Option<Duration>,
}

/// Echo requests to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingCheck {
    /// Its name or address.
    pub host: String,
    /// How many are sent. If some are lost, that is a warning; if all are, it is critical.
    pub packets: u16,
    /// A slower mean is a warning.
    pub slow: Option<Duration>,
}

/// The certificate of a TLS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateCheck {
    /// `HOST:PORT`.
    pub address: String,
    /// So long before it expires it is a warning.
    pub warn_before: Duration,
    /// So long before it expires it is critical.
    pub critical_before: Duration,
}

/// What a web server is to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCheck {
    /// What is asked for.
    pub url: String,
    /// With one of these; none: any below 400.
    pub statuses: Vec<u16>,
    /// A text that is to be in it.
    pub contains: Option<String>,
    /// Slower is a warning.
    pub slow: Option<Duration>,
}

/// What a file, or those of a directory, are to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCheck {
    /// Which. Of a directory the files in it are counted.
    pub path: PathBuf,
    /// Older is critical.
    pub older: Option<Duration>,
    /// Smaller is critical, in bytes.
    pub smaller: Option<u64>,
    /// More files of a directory are critical.
    pub most: Option<u64>,
}
