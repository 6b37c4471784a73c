"""Settings of a connection: those that drivers expect to find, and those that a server adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from adomnia.wire.errors import WireError

__all__ = ["REPORTED", "SettingRules", "Settings", "on_or_off", "startup_settings"]

SERVER_VERSION = "15.0"

MOST_NAMES, MOST = 200, 1 << 16
"""How many settings a connection may have, and how many characters all of them together."""

_DEFAULTS: Mapping[str, str] = MappingProxyType({
    "application_name": "", "bytea_output": "hex",
    "client_encoding": "UTF8", "client_min_messages": "notice", "datestyle": "ISO, MDY",
    "default_transaction_isolation": "read committed", "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off", "extra_float_digits": "1", "geqo": "on",
    "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0",
    "integer_datetimes": "on", "intervalstyle": "postgres", "in_hot_standby": "off",
    "is_superuser": "off", "jit": "off", "lc_collate": "C.UTF-8", "lc_ctype": "C.UTF-8",
    "lc_messages": "C", "lc_monetary": "C", "lc_numeric": "C", "lc_time": "C",
    "lock_timeout": "0", "max_identifier_length": "63", "max_index_keys": "32",
    "row_security": "on", "search_path": '"$user", public', "server_encoding": "UTF8",
    "server_version": SERVER_VERSION, "server_version_num": "150000", "role": "none",
    "session_authorization": "", "standard_conforming_strings": "on", "statement_timeout": "0",
    "synchronous_commit": "on", "timezone": "UTC", "transaction_isolation": "read committed",
    "transaction_read_only": "off", "transaction_deferrable": "off", "work_mem": "4MB",
    "enable_seqscan": "on", "quote_all_identifiers": "off", "tcp_keepalives_idle": "0",
})  # fmt: skip

_FIXED = {
    "in_hot_standby", "integer_datetimes", "is_superuser", "lc_collate", "lc_ctype",
    "max_identifier_length", "max_index_keys", "server_encoding", "server_version",
    "server_version_num", "session_authorization", "role",
}  # fmt: skip

REPORTED: Mapping[str, str] = MappingProxyType({
    name.lower(): name
    for name in (
        "application_name", "client_encoding", "DateStyle", "default_transaction_read_only",
        "in_hot_standby", "integer_datetimes", "IntervalStyle", "is_superuser", "server_encoding",
        "server_version", "session_authorization", "standard_conforming_strings", "TimeZone",
    )
})  # fmt: skip
"""What a client is told without asking, at the start and whenever it changes; as it is spelled."""

_UTF8 = {"utf8", "unicode", "sqlascii"}
_LEVELS = ("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")
_ON, _OFF = ("on", "true", "yes", "1", "t", "y"), ("off", "false", "no", "0", "f", "n")

SettingCheck = Callable[[str], str]
"""The value as it is kept, or a WireError."""


@dataclass(frozen=True)
class SettingRules:
    """What a server adds: settings whose names begin with its product's.

    `defaults` also replaces PostgreSQL's own; setting one of `exclusive` empties the others.
    """

    product: str
    defaults: Mapping[str, str]
    checks: Mapping[str, SettingCheck]
    exclusive: frozenset[str] = frozenset()

    def owns(self, name: str) -> bool:
        """Whether a setting is the server's own."""
        return name.startswith(f"{self.product}.")

    def checked(self, name: str, value: str) -> str:
        """The value as it is kept; refused where it makes no sense."""
        check = self.checks.get(name) or _CHECKS.get(name)
        try:
            return value[:1000] if check is None else check(value.strip())
        except WireError as error:
            raise WireError(f"{name}: {error.message}", error.hint, "22023") from None

    def unknown(self, name: str) -> WireError:
        """There is no such setting; which there are is said of the server's own."""
        hint = ", ".join(filter(self.owns, self.defaults)) if self.owns(name.lower()) else ""
        return WireError(f"there is no setting {name[:80]!r}", hint, "42704")


@dataclass(frozen=True)
class Settings:
    """Values by name; `base` is what RESET goes back to."""

    rules: SettingRules
    values: Mapping[str, str]
    base: Mapping[str, str]

    def get(self, name: str) -> str:
        """A setting's value."""
        value = self.values.get(name.lower())
        if value is None:
            raise self.rules.unknown(name)
        return value

    def set(self, name: str, value: str | None) -> Settings:
        """The settings with one of them changed; None puts its default back."""
        key = name.lower()
        if key not in self.values and ("." not in key or self.rules.owns(key)):
            raise self.rules.unknown(name)
        text = self.base.get(key, "") if value is None else self.rules.checked(key, value)
        if key in _FIXED and text != self.values[key]:
            raise WireError(f"{key} cannot be changed", "", "55P02")
        others = self.rules.exclusive - {key} if text and key in self.rules.exclusive else ()
        values = {**self.values, key: text, **dict.fromkeys(others, "")}
        if len(values) > MOST_NAMES or sum(map(len, (*values, *values.values()))) > MOST:
            raise WireError("these are too many settings, or too long", "reset some", "53000")
        return replace(self, values=MappingProxyType(values))

    def reset(self) -> Settings:
        """All settings as they were when the connection began."""
        return replace(self, values=self.base)

    def based(self) -> Settings:
        """The settings as those that RESET goes back to."""
        return replace(self, base=self.values)

    def named(self, user: str) -> Settings:
        """The settings of somebody who has logged in."""
        who = {"session_authorization": user}
        return replace(self, values=MappingProxyType({**self.values, **who}))

    @property
    def notices(self) -> bool:
        """Whether the client wants to see notices."""
        return _LEVELS.index(self.values["client_min_messages"]) <= _LEVELS.index("notice")


def startup_settings(parameters: Mapping[str, str], rules: SettingRules) -> Settings:
    """The settings that a client brings: by name, and in `options` as `-c name=value`."""
    defaults = MappingProxyType({**_DEFAULTS, **rules.defaults})
    settings = Settings(rules, defaults, defaults)
    for name, value in _options(parameters.get("options", "")):
        settings = settings.set(name, value)
    for name, value in parameters.items():
        given = name not in ("user", "database", "options", "replication")
        if given and not name.startswith("_pq_."):
            settings = settings.set(name, value)
    return settings.named(parameters.get("user", "")).based()


def _options(text: str) -> list[tuple[str, str]]:
    """The pairs of `-c a=b --c=d`; a backslash keeps a space."""
    words = [word.replace("\0", " ") for word in text.replace("\\ ", "\0").split()]
    pairs: list[tuple[str, str]] = []
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        elif word.startswith(("-c", "--")):
            word = word[2:]
        else:
            raise WireError(f"the option {word[:40]!r} is not understood", "", "22023", fatal=True)
        name, _, value = word.partition("=")
        pairs.append((name.replace("-", "_"), value))
    return pairs


# Values


def on_or_off(value: str) -> str:
    """A switch as PostgreSQL keeps it."""
    if value.lower() in _ON + _OFF:
        return "on" if value.lower() in _ON else "off"
    raise WireError("this is on or off", "")


def _encoding(value: str) -> str:
    if "".join(filter(str.isalnum, value.lower())) not in _UTF8:
        raise WireError("only UTF8 is spoken here", "SET client_encoding = 'UTF8'")
    return "UTF8"


def _level(value: str) -> str:
    if value.lower() not in _LEVELS:
        raise WireError("this is not a level", ", ".join(_LEVELS))
    return value.lower()


def _date_style(value: str) -> str:
    if not value.lower().replace(" ", "").startswith("iso"):
        raise WireError("dates are written as ISO does", "SET DateStyle = ISO")
    return "ISO, MDY"


def _strings(value: str) -> str:
    if on_or_off(value) != "on":
        raise WireError("strings conform to the standard here", "leave it on")
    return "on"


_CHECKS: Mapping[str, SettingCheck] = {
    "client_encoding": _encoding,
    "client_min_messages": _level,
    "datestyle": _date_style,
    "standard_conforming_strings": _strings,
}
