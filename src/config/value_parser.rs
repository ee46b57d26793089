//! How the values of settings are written: a parser for each form, with the message for a value that it rejects.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::access::tokens::signing_key::Algorithm;
use crate::api::console_mode::ConsoleMode;
use crate::catalog::search_window::SearchWindow;
use crate::database::address::connection_string::ConnectionString;
use crate::http::address_range::AddressRange;
use crate::http::coding::Codings;
use crate::http::response::cors::Origins;
use crate::http::socket::address::ListenAddress;
use crate::preflight::Constraints;
use crate::shared_store::address::StoreAddress;
use crate::telemetry::access_log::AccessLog;
use crate::telemetry::log::{Format, is_filter};
use crate::throttle::shared_buckets::WhenAway;

/// Parses the text of a value.
#[derive(Debug)]
pub(crate) struct ValueParser<T> {
    /// The placeholder for the value in `--help`.
    pub(crate) placeholder: &'static str,
    /// A description of valid values, to follow "expected".
    pub(crate) wanted: &'static str,
    /// The value; `None` if the text is not valid.
    pub(crate) parse: fn(&str) -> Option<T>,
}

impl<T> ValueParser<T> {
    /// The value, or a message that describes valid values.
    pub(crate) fn read(&self, text: &str) -> Result<T, String> {
        (self.parse)(text).ok_or_else(|| format!("expected {}", self.wanted))
    }
}

/// The address of a listener.
pub(crate) const ADDRESS: ValueParser<ListenAddress> = ValueParser {
    placeholder: "ADDRESS",
    wanted: "an IP address and a port, such as 127.0.0.1:8080, [::]:8080 or localhost:8080, or unix:/PATH, systemd or \
             systemd:NAME",
    parse: ListenAddress::parse,
};

/// The same, or a port of the loopback address; empty if it is not set.
pub(crate) const OPERATORS_ADDRESS: ValueParser<Option<ListenAddress>> = ValueParser {
    placeholder: ADDRESS.placeholder,
    wanted: "a port of the loopback address, such as 9464, an IP address and a port, such as 10.0.0.1:9464, or unix:/PATH, \
             systemd or systemd:NAME",
    parse: |text| match text.parse() {
        Ok(port) => Some(Some(ListenAddress::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))),
        Err(_) if text.is_empty() => Some(None),
        Err(_) => (ADDRESS.parse)(text).map(Some),
    },
};

/// Which requests are logged.
pub(crate) const ACCESS_LOG: ValueParser<AccessLog> = ValueParser {
    placeholder: "REQUESTS",
    wanted: "all, errors, off, or sampled:N, such as sampled:100",
    parse: AccessLog::parse,
};

/// A file's permissions.
pub(crate) const MODE: ValueParser<u32> = ValueParser {
    placeholder: "MODE",
    wanted: "permissions in octal digits, such as 0660",
    parse: |text| u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777 && !text.starts_with('+')),
};

/// A list of IP addresses and networks, which may be empty.
pub(crate) const ADDRESSES: ValueParser<Vec<AddressRange>> = ValueParser {
    placeholder: "ADDRESSES",
    wanted: "IP addresses or networks with commas between, such as 10.0.0.1,fd00::/8",
    parse: |text| {
        text.split(',').filter(|part| !part.is_empty()).map(|part| AddressRange::parse(part.trim())).collect()
    },
};

/// A duration above zero.
pub(crate) const TIME: ValueParser<Duration> = ValueParser {
    placeholder: "TIME",
    wanted: "a time above zero, such as 500ms, 10s, 5m or 1h",
    parse: |text| duration(text).filter(|time| !time.is_zero()),
};

/// A duration above zero, or none at all.
pub(crate) const TIME_OR_FOREVER: ValueParser<Option<Duration>> = ValueParser {
    placeholder: "TIME",
    wanted: "a time above zero, such as 12h or 365d, or forever",
    parse: |text| if text == "forever" { Some(None) } else { (TIME.parse)(text).map(Some) },
};

/// A duration above zero, or `off`.
pub(crate) const TIME_OR_OFF: ValueParser<Option<Duration>> = ValueParser {
    placeholder: "TIME",
    wanted: "a time above zero, such as 500ms, 10s, 5m or 1h, or off",
    parse: |text| if text == "off" { Some(None) } else { (TIME.parse)(text).map(Some) },
};

/// `on` or `off`.
pub(crate) const SWITCH: ValueParser<bool> = ValueParser {
    placeholder: "SWITCH",
    wanted: "on or off",
    parse: |text| one_of(text, [("on", true), ("off", false)]),
};

/// Which listener has the console.
pub(crate) const CONSOLE: ValueParser<ConsoleMode> =
    ValueParser { placeholder: "LISTENER", wanted: "on, admin or off", parse: ConsoleMode::parse };

/// A number of bytes above zero.
pub(crate) const SIZE: ValueParser<usize> = ValueParser {
    placeholder: "SIZE",
    wanted: "a number of bytes above zero, such as 65536, 64KiB or 1MiB",
    parse: |text| bytes(text).filter(|size| *size > 0),
};

/// A number of bytes above zero, or `off`.
pub(crate) const SIZE_OR_OFF: ValueParser<Option<usize>> = ValueParser {
    placeholder: "SIZE",
    wanted: "a number of bytes above zero, such as 65536, 64KiB or 1MiB, or off",
    parse: |text| if text == "off" { Some(None) } else { bytes(text).filter(|size| *size > 0).map(Some) },
};

/// A number of threads, connections or the like, which is at least one.
pub(crate) const COUNT: ValueParser<usize> = ValueParser {
    placeholder: "COUNT",
    wanted: "a whole number from 1 to 1000000",
    parse: |text| text.parse().ok().filter(|count| (1..=1_000_000).contains(count)),
};

/// The same; empty for a number that depends on the machine.
pub(crate) const COUNT_OR_NONE: ValueParser<Option<usize>> = ValueParser {
    placeholder: COUNT.placeholder,
    wanted: COUNT.wanted,
    parse: |text| if text.is_empty() { Some(None) } else { (COUNT.parse)(text).map(Some) },
};

/// The same, or `off`.
pub(crate) const COUNT_OR_OFF: ValueParser<Option<usize>> = ValueParser {
    placeholder: COUNT.placeholder,
    wanted: "a whole number from 1 to 1000000, or off",
    parse: |text| if text == "off" { Some(None) } else { (COUNT.parse)(text).map(Some) },
};

/// A limit, which is at least one.
pub(crate) const LIMIT: ValueParser<u32> = ValueParser {
    placeholder: "COUNT",
    wanted: "a whole number from 1 to 1000000",
    parse: |text| text.parse().ok().filter(|count| (1..=1_000_000).contains(count)),
};

/// A number of rows that a search may examine.
pub(crate) const SEARCH_WINDOW: ValueParser<SearchWindow> = ValueParser {
    placeholder: "ROWS",
    wanted: "a whole number of rows from 100 to 1000000",
    parse: |text| SearchWindow::new(text.parse().ok()?),
};

/// A number of credits.
pub(crate) const CREDITS: ValueParser<u64> = ValueParser {
    placeholder: "CREDITS",
    wanted: "a whole number of credits from 0 to 1000000000000",
    parse: |text| text.parse().ok().filter(|credits| *credits <= 1_000_000_000_000),
};

/// The address of a database; empty if it is not set.
pub(crate) const DATABASE: ValueParser<Option<ConnectionString>> = ValueParser {
    placeholder: "DATABASE",
    wanted: "a URL such as postgresql://user:password@host:5432/name, or host=/run/postgresql user=me dbname=name",
    parse: |text| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) },
};

/// The addresses of databases; empty if there are none.
pub(crate) const DATABASES: ValueParser<Vec<ConnectionString>> = ValueParser {
    placeholder: "DATABASES",
    wanted: "addresses such as postgresql://user:password@host:5432/name with commas between (%2C in a password), each of one host",
    parse: |text| {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| part.parse().ok()).collect()
    },
};

/// The address of a store that nodes share; empty if it is not set.
pub(crate) const STORE: ValueParser<Option<StoreAddress>> = ValueParser {
    placeholder: "STORE",
    wanted: "a URL such as redis://user:password@host:6379/0, or rediss://… with TLS",
    parse: |text| if text.is_empty() { Some(None) } else { StoreAddress::parse(text).map(Some) },
};

/// The rule while the store that nodes share is away.
pub(crate) const WHEN_AWAY: ValueParser<WhenAway> = ValueParser {
    placeholder: "ADMITTED",
    wanted: "share, open or closed",
    parse: |text| one_of(text, [("share", WhenAway::Share), ("open", WhenAway::Open), ("closed", WhenAway::Closed)]),
};

/// A text of at least one character.
pub(crate) const TEXT: ValueParser<String> = ValueParser {
    placeholder: "TEXT",
    wanted: "a text of at least one character",
    parse: |text| (!text.is_empty()).then(|| text.to_owned()),
};

/// A text; empty if it is not set.
pub(crate) const TEXT_OR_NONE: ValueParser<Option<String>> = ValueParser {
    placeholder: "TEXT",
    wanted: "a text",
    parse: |text| Some((!text.is_empty()).then(|| text.to_owned())),
};

/// A file's path.
pub(crate) const PATH: ValueParser<PathBuf> = ValueParser {
    placeholder: "FILE",
    wanted: "the path of a file",
    parse: |text| (!text.is_empty()).then(|| PathBuf::from(text)),
};

/// A folder's path.
pub(crate) const FOLDER: ValueParser<PathBuf> =
    ValueParser { placeholder: "FOLDER", wanted: "the path of a folder", parse: PATH.parse };

/// Content codings.
pub(crate) const CODINGS: ValueParser<Codings> = ValueParser {
    placeholder: "CODINGS",
    wanted: "on, off, or some of zstd, br and gzip with commas between, the preferred one first",
    parse: Codings::parse,
};

/// Origins of web pages; empty if no page's scripts may read responses.
pub(crate) const ORIGINS: ValueParser<Origins> = ValueParser {
    placeholder: "ORIGINS",
    wanted: "origins such as https://app.example.com, without a path, with commas between; or * for all",
    parse: Origins::parse,
};

/// A file's path; empty if it is not set.
pub(crate) const PATH_OR_NONE: ValueParser<Option<PathBuf>> = ValueParser {
    placeholder: "FILE",
    wanted: "the path of a file",
    parse: |text| Some((!text.is_empty()).then(|| PathBuf::from(text))),
};

/// The algorithm that signs tokens.
pub(crate) const ALGORITHM: ValueParser<Algorithm> = ValueParser {
    placeholder: "ALGORITHM",
    wanted: "EdDSA or HS256",
    parse: |text| Algorithm::ALL.into_iter().find(|algorithm| algorithm.as_str() == text),
};

/// Whether the constraints of the database must guarantee what the schema promises.
pub(crate) const CONSTRAINTS: ValueParser<Constraints> = ValueParser {
    placeholder: "REQUIRED",
    wanted: "required or trusted",
    parse: |text| one_of(text, [("required", Constraints::Required), ("trusted", Constraints::Trusted)]),
};

/// The log's format.
pub(crate) const LOG_FORMAT: ValueParser<Format> = ValueParser {
    placeholder: "FORMAT",
    wanted: "auto, text or json",
    parse: |text| one_of(text, [("auto", Format::Auto), ("text", Format::Text), ("json", Format::Json)]),
};

/// The log's filter.
pub(crate) const LOG_FILTER: ValueParser<String> = ValueParser {
    placeholder: "FILTER",
    wanted: "a level (error, warn, info, debug, trace) or directives such as warn,orderql=debug",
    parse: |text| is_filter(text).then(|| text.to_owned()),
};

/// The value of this name.
fn one_of<T, const N: usize>(text: &str, values: [(&str, T); N]) -> Option<T> {
    values.into_iter().find(|(name, _)| *name == text).map(|(_, value)| value)
}

fn duration(text: &str) -> Option<Duration> {
    let (count, unit) = number_and_unit(text)?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => 24 * 60 * 60 * 1000,
        _ => return None,
    };
    // A hundred years or more cannot be added to every reading of a clock.
    count.checked_mul(milliseconds).map(Duration::from_millis).filter(|time| time.as_secs() < 36_500 * 24 * 60 * 60)
}

fn bytes(text: &str) -> Option<usize> {
    let (count, unit) = number_and_unit(text)?;
    let bytes = match unit {
        "" | "B" => 1,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    usize::try_from(count.checked_mul(bytes)?).ok()
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let unit = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    Some((number.parse().ok()?, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_needs_a_unit() {
        let read = |text| (TIME.parse)(text);
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(read("10s"), Some(Duration::from_secs(10)));
        assert_eq!(read("5 m"), Some(Duration::from_mins(5)));
        assert_eq!(read("1h"), Some(Duration::from_hours(1)));
        for wrong in ["", "10", "s", "-1s", "1.5s", "0s", "10 years", "99999999999999999999s", "1000000000000h"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_size_has_a_binary_or_decimal_unit() {
        let read = |text| (SIZE.parse)(text);
        assert_eq!(read("65536"), Some(65536));
        assert_eq!(read("64KiB"), Some(65536));
        assert_eq!(read("1MiB"), Some(1 << 20));
        assert_eq!(read("2 MB"), Some(2_000_000));
        assert_eq!((SIZE_OR_OFF.parse)("1MiB"), Some(Some(1 << 20)));
        assert_eq!((SIZE_OR_OFF.parse)("off"), Some(None));
        assert_eq!((SIZE_OR_OFF.parse)("0"), None);
        for wrong in ["", "0", "1X", "MiB", "-1", "99999999999GiB"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
