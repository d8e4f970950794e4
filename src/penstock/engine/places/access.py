"""Access: how an object store is reached, by its URI, Spark's settings and the environment.

What the URI says comes first, then what Spark was told (`spark.hadoop.fs.s3a.…`), then the
variables and files that the store's own tools read.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote

from pyarrow import fs

from penstock.errors import PlaceError, SetupError

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Config, S3Store

    ObjectStore = AzureStore | GCSStore | S3Store

OBJECT_STORES = ("s3", "gs", "abfs", "abfss")
AZURE_DOMAIN = ".dfs.core.windows.net"
_BLOBS = ".blob.core.windows.net"
# How Hadoop names what it is told of S3, and the variables by which workers are told the same.
_FROM_HADOOP = {
    "access.key": "PENSTOCK_S3_ACCESS_KEY",
    "secret.key": "PENSTOCK_S3_SECRET_KEY",
    "session.token": "PENSTOCK_S3_SESSION_TOKEN",
    "endpoint": "PENSTOCK_S3_ENDPOINT",
    "endpoint.region": "PENSTOCK_S3_REGION",
    "connection.ssl.enabled": "PENSTOCK_S3_SSL",
}
_HADOOP = "spark.hadoop.fs.s3a."
_YES = ("1", "true", "yes", "")
_OPTIONS = ("region", "scheme", "endpoint_override", "allow_bucket_creation", "tls_ca_file_path")
_RETRIES = 3
_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class S3Access:
    """A bucket of S3, or of what speaks its language. What is None, the libraries find out."""

    bucket: str
    key: str | None = None
    secret: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    region: str | None = None
    endpoint: str | None = None
    """The URL of a server that is not Amazon's."""

    others: Mapping[str, Any] = field(default_factory=dict)
    """More that pyarrow is told."""

    @classmethod
    def of(cls, authority: str, options: str) -> S3Access:
        """The access to a bucket by the parts of its URI."""
        user, _, bucket = authority.rpartition("@")
        given = dict(parse_qsl(options, keep_blank_values=True))
        unknown = sorted(set(given) - set(_OPTIONS))
        if unknown:
            raise PlaceError(
                f"s3://{bucket} has an unknown option: {unknown[0]}",
                hint=f"known are {', '.join(_OPTIONS)}",
            )
        key, secret, token = _credentials(user)
        others: dict[str, Any] = {}
        if "allow_bucket_creation" in given:
            others["allow_bucket_creation"] = given["allow_bucket_creation"].lower() in _YES
        if "tls_ca_file_path" in given:
            others["tls_ca_file_path"] = given["tls_ca_file_path"]
        region = given.get("region") or _variable("PENSTOCK_S3_REGION", *_REGIONS)
        return cls(bucket, key, secret, token, region, _endpoint(given), others)

    def filesystem(self) -> fs.FileSystem:
        """As pyarrow reaches it."""
        scheme, _, host = (self.endpoint or "").rpartition("://")
        return fs.S3FileSystem(
            access_key=self.key,
            secret_key=self.secret,
            session_token=self.token,
            region=self.region or self._found_region(),
            scheme=scheme or None,
            endpoint_override=host or None,
            # A small file is one request then, not three.
            allow_delayed_open=True,
            **self.others,
        )

    def _found_region(self) -> str | None:
        """Where the bucket lies, as Amazon tells."""
        if self.endpoint is not None:
            return None
        try:
            return str(fs.resolve_s3_region(self.bucket))
        except OSError:
            return None  # Who uses it next says what is wrong.

    def objects(self) -> S3Store:
        """As obstore reaches it."""
        from obstore.store import S3Store

        told = {
            "access_key_id": self.key,
            "secret_access_key": self.secret,
            "session_token": self.token,
            "region": self.region or self._found_region(),
            "endpoint": self.endpoint,
        }
        is_open = (self.endpoint or "").startswith("http://")
        return S3Store(
            self.bucket,
            config=cast("S3Config", {name: value for name, value in told.items() if value}),
            client_options={"allow_http": True} if is_open else {},
            retry_config={"max_retries": _RETRIES, "retry_timeout": _PATIENCE},
        )


_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_VARIABLES = (
    *_FROM_HADOOP.values(),
    *_REGIONS,
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
)


def check_library() -> None:
    """Refuse object stores where the library is missing that creates files conditionally."""
    try:
        import obstore  # noqa: F401
    except ImportError:
        raise SetupError(
            "object stores need a library that is not installed: obstore",
            hint="python -m pip install 'penstock[stores]'",
        ) from None


def azure_of(authority: str, names: tuple[str, ...]) -> tuple[str, str]:
    """The account and the container of an address in Azure: `container@account.dfs.…`, or
    `account.blob.…/container`."""
    container, at, host = authority.rpartition("@")
    account = host.removesuffix(AZURE_DOMAIN).removesuffix(_BLOBS)
    return account, container.partition(":")[0] if at else (names or ("",))[0]


def azure_filesystem(authority: str) -> tuple[fs.FileSystem, str]:
    """An account's file system, and what it calls the root of the address."""
    account, container = azure_of(authority, ())
    key = _variable("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY")
    token = _variable("AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY")
    found = fs.AzureFileSystem(
        account, account_key=key, sas_token=None if key or token is None else token
    )
    return found, container


def objects_of(scheme: str, authority: str, options: str, container: str) -> ObjectStore:
    """A bucket or container as obstore reaches it."""
    check_library()
    from obstore.store import AzureStore, GCSStore

    if scheme == "s3":
        return S3Access.of(authority, options).objects()
    if scheme == "gs":
        return GCSStore(container)
    account, _ = azure_of(authority, (container,))
    _, _, key = authority.rpartition("@")[0].partition(":")
    if key:
        return AzureStore(container, account_name=account, account_key=unquote(key))
    return AzureStore(container, account_name=account)


SPARK_SETTINGS = tuple(_HADOOP + name for name in _FROM_HADOOP)
"""The settings of Spark that are of any interest here."""


def settings_of_spark(settings: Mapping[str, str]) -> dict[str, str]:
    """What Spark was told of S3, as variables for this process and the workers."""
    return {
        name: settings[_HADOOP + hadoop]
        for hadoop, name in _FROM_HADOOP.items()
        if settings.get(_HADOOP + hadoop)
    }


def settings_here() -> dict[str, str]:
    """The variables of this process that say how stores are reached."""
    return {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}


def take_settings(variables: Mapping[str, str]) -> None:
    """Reach stores by these from now on."""
    os.environ.update(variables)


def _credentials(user: str) -> tuple[str | None, str | None, str | None]:
    """Key, secret and token; None of each if the libraries are to find some."""
    name, colon, password = user.partition(":")
    if colon:
        return unquote(name), unquote(password), None
    spark = _variable("PENSTOCK_S3_ACCESS_KEY"), _variable("PENSTOCK_S3_SECRET_KEY")
    if all(spark):
        return (*spark, _variable("PENSTOCK_S3_SESSION_TOKEN"))
    keys = _variable("AWS_ACCESS_KEY_ID"), _variable("AWS_SECRET_ACCESS_KEY")
    if all(keys):
        return (*keys, _variable("AWS_SESSION_TOKEN"))
    return _from_file()


def _from_file() -> tuple[str | None, str | None, str | None]:
    """What the file of Amazon's own tools says, which not all libraries read."""
    default = os.path.expanduser("~/.aws/credentials")
    parser = configparser.RawConfigParser()
    try:
        parser.read(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", default), encoding="utf-8")
        section = parser[os.environ.get("AWS_PROFILE", "default")]
    except (KeyError, configparser.Error, OSError, UnicodeDecodeError):
        return None, None, None
    key, secret = section.get("aws_access_key_id"), section.get("aws_secret_access_key")
    return (key, secret, section.get("aws_session_token")) if key and secret else (None,) * 3


def _endpoint(given: Mapping[str, str]) -> str | None:
    """The server's URL, without a slash at its end."""
    told = given.get("endpoint_override")
    from_spark = None if told else _variable("PENSTOCK_S3_ENDPOINT")
    is_plain = from_spark is not None and _variable("PENSTOCK_S3_SSL") == "false"
    found = told or from_spark or _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if found is None:
        return None
    scheme, _, host = found.rpartition("://")
    scheme = given.get("scheme") or scheme or ("http" if is_plain else "https")
    return f"{scheme}://{host.rstrip('/')}"


def _variable(*names: str) -> str | None:
    """The first of some variables of the environment that is set."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)
