"""Which names hold secrets: `DB_PASSWORD`, `clientSecret`, `x-api-key`; and which only sound so: `max_tokens`."""

from __future__ import annotations

import enum
from functools import lru_cache

from clew.redact.lazy import lazy


class Holds(enum.Enum):
    """What a name promises; it decides how much a value must look like a secret to be taken for one."""

    NOTHING = enum.auto()
    PASSWORD = enum.auto()  # any literal
    SECRET = enum.auto()  # any literal that isn't made of words
    TOKEN = enum.auto()  # a machine drew it
    WEAK = enum.auto()  # `..._KEY`, `..._AUTH`: only a long one that a machine drew
    AUTHORIZATION = enum.auto()  # a header: scheme and credential
    COOKIE = enum.auto()  # a header: pairs
    QUERY = enum.auto()  # only as a URL parameter: `code`, `sig`
    PHONE = enum.auto()  # a person's number, in any spelling


# Literals one of which every such name contains; what the engines look for.
ANCHORS = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "cookie", "code", "sig", "session", "value", "jwt", "_pat",
    "bearer", "phone",
)  # fmt: skip

_SPLIT = lazy(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PASSWORD_END = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "motdepasse", "contrasena")
_PASS_WORDS = frozenset(["dbpass", "userpass", "smtppass", "mypass", "rootpass", "ftppass", "mailpass", "adminpass",
                         "sshpass", "storepass", "keypass", "requirepass", "bindpass", "vaultpass", "sudopass", "loginpass",
                         "apppass", "mqttpass", "wifipass", "authpass"])  # fmt: skip
_KEY_OWNERS_AS_TEXT = """
    api access secret private auth encryption encrypt signing sign master account client service app application
    license shared subscription admin webhook deploy ssh storage jwt hmac cipher crypt rsa fernet anon role consumer
    integration write server instrumentation ingest sas session user sdk token subscription primary secondary function
    functions openai anthropic gemini google mistral groq cohere stripe sendgrid mailgun datadog pagerduty algolia tavily
    exa serper deepseek openrouter replicate elevenlabs ws rest s3 minio b2 r2 do cf cloudflare github gitlab npm pypi
    host seed wallet mnemonic recovery unseal root kms data session bearer symmetric aes security cookie live test preshared psk
    sentry validation decryption
"""
_KEY_OWNERS = frozenset(_KEY_OWNERS_AS_TEXT.split())
# After the word that holds a secret, these say which one; others (`count`, `name`, `url`, `field`) say it is not here.
_TAILS_AS_TEXT = """
    prod production dev development staging stage test live local default main primary secondary old new current
    value string str plain plaintext text raw base64 b64 hex encoded env bot app user admin root master backup read write
    ro rw 1 2 3 4 0 v1 v2 a b base
"""
_TAILS = frozenset(_TAILS_AS_TEXT.split())
_QUERY_ONLY = frozenset(["code", "sig", "signature", "key", "session", "ticket", "token", "auth", "jwt", "hmac", "otp",
                         "sessionid", "sid", "assertion", "credential", "apikey", "passcode", "verifier"])  # fmt: skip
_PHONES = frozenset(["phone", "mobile", "telephone", "cellphone", "mobilephone", "phonenumber", "mobilenumber"])
_NUMBERS = frozenset(["number", "no", "nr", "num"])
# Names of two words in which the last one says nothing by itself.
_SPELT_OUT = {("key", "material"): Holds.TOKEN, ("secret", "input"): Holds.SECRET, ("secret", "id"): Holds.TOKEN,
              ("gpg", "key"): Holds.NOTHING}  # fmt: skip
_CREDENTIAL_WORDS = frozenset(["credential", "credentials", "cred", "creds", "authtoken", "authkey"])


@lru_cache(maxsize=8192)
def holds(name: str) -> Holds:
    """What the name of a variable, field, header or parameter promises of its value."""
    words = [word.lower() for word in _SPLIT.split(name) if word]
    while len(words) > 1 and words[-1] in _TAILS:
        words.pop()
    if not words:
        return Holds.NOTHING
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if (before, last) in _SPELT_OUT:
        return _SPELT_OUT[before, last]
    if last in _PHONES or (last in _NUMBERS and before in _PHONES):
        return Holds.PHONE
    if last == "authorization":
        return Holds.AUTHORIZATION
    if last in {"cookie", "cookies"}:
        return Holds.COOKIE
    last = last.rstrip("0123456789") or last
    if last == "data" and before == "key":  # a kubeconfig's
        return Holds.TOKEN
    return _of_word(last, before, upper=name.isupper())


def _of_word(last: str, before: str, *, upper: bool) -> Holds:
    if last.endswith(_PASSWORD_END) or last in _PASS_WORDS or (last in {"pass", "passwords", "pw"} and before):
        return Holds.PASSWORD
    if last == "pass":  # alone it also counts tests, and says that one did
        return Holds.SECRET
    if last.endswith("secret") or last in {"secrets", "secretkey"}:
        return Holds.SECRET
    if last.endswith(
        ("apikey", "accesskey", "privatekey", "secretkey", "authkey", "accountkey", "masterkey", "sharedkey")
    ):
        return Holds.TOKEN
    if last == "key" and before in _KEY_OWNERS:
        return Holds.TOKEN
    if (
        last.endswith("token")
        or last in _CREDENTIAL_WORDS
        or last in {"jsessionid", "bearer"}
        or (last == "pat" and before)
    ):
        return Holds.TOKEN
    if last in {"key", "keys", "auth"} or (last.endswith("key") and len(last) > 5 and upper):
        return Holds.WEAK
    return Holds.QUERY if last in _QUERY_ONLY else Holds.NOTHING


def as_query(name: str) -> bool:
    """Whether a URL's or form's parameter of that name carries a secret."""
    if holds(name) in {Holds.NOTHING, Holds.AUTHORIZATION, Holds.COOKIE, Holds.PHONE}:
        return False
    if holds(name) is Holds.WEAK:
        return name.lower() in _QUERY_ONLY
    return True
