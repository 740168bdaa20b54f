//! The statuses that replies bear.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    PartialContent,
    MovedPermanently,
    NotModified,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    PreconditionFailed,
    UriTooLong,
    RangeNotSatisfiable,
    ExpectationFailed,
    HeadTooLarge,
    InternalError,
    NotImplemented,
    Unavailable,
    VersionNotSupported,
}

impl Status {
    pub(crate) fn code(self) -> u16 {
        let line = self.line().as_bytes();
        line[..3].iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'))
    }

    /// Its number and what that means.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::PartialContent => "206 Partial Content",
            Self::MovedPermanently => "301 Moved Permanently",
            Self::NotModified => "304 Not Modified",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::RequestTimeout => "408 Request Timeout",
            Self::PreconditionFailed => "412 Precondition Failed",
            Self::UriTooLong => "414 URI Too Long",
            Self::RangeNotSatisfiable => "416 Range Not Satisfiable",
            Self::ExpectationFailed => "417 Expectation Failed",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::InternalError => "500 Internal Server Error",
            Self::NotImplemented => "501 Not Implemented",
            Self::Unavailable => "503 Service Unavailable",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn a_status_knows_its_number() {
        assert_eq!(Status::Ok.code(), 200);
        assert_eq!(Status::HeadTooLarge.code(), 431);
        assert_eq!(Status::VersionNotSupported.code(), 505);
    }
}
