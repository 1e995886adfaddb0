//! Certificates that no system knows.

use super::machine::{Scratch, shell};

/// Makes an authority in a directory, `ca.pem`, and certificates of it for names of servers and clients: `NAME.pem` and `NAME.key`.
pub(crate) fn issue(scratch: &Scratch, names: &str) {
    let made = shell(&format!(
        "cd {} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=authority \
         -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem && \
         for name in {names}; do \
         openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$name -keyout $name.key -out $name.csr && \
         printf 'subjectAltName=DNS:%s\\nextendedKeyUsage=serverAuth,clientAuth\\n' $name > $name.ext && \
         openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile $name.ext -out $name.pem || exit 1; done",
        scratch.0.display()
    ));
    assert!(made.status.success(), "{made:?}");
}
