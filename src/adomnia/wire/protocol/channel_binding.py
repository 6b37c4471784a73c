"""The server's certificate as channel binding knows it: `tls-server-end-point` of RFC 5929."""

from __future__ import annotations

import ssl

__all__ = ["end_point"]


def end_point(context: ssl.SSLContext) -> bytes | None:
    """The hash of the certificate that the context shows; None where RFC 5929 defines none.

    A context does not tell its certificate, so it is asked for it in a handshake in memory.
    """
    from cryptography import x509  # noqa: PLC0415 (slow; only with TLS)
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415

    shown = _certificate(context)
    if shown is None:
        return None
    signed_with = x509.load_der_x509_certificate(shown).signature_hash_algorithm
    if signed_with is None:
        return None
    weak = isinstance(signed_with, hashes.MD5 | hashes.SHA1)
    digest = hashes.Hash(hashes.SHA256() if weak else signed_with)
    digest.update(shown)
    return digest.finalize()


def _certificate(context: ssl.SSLContext) -> bytes | None:
    mine = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    mine.check_hostname = False
    mine.verify_mode = ssl.CERT_NONE  # it is our own, and nothing is sent to it
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = mine.wrap_bio(here, there)
    server = context.wrap_bio(there, here, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                break  # a context that asks for a certificate of ours: it has shown its own
    return client.getpeercert(binary_form=True)
