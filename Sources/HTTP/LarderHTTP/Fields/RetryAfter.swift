#if HTTP
  public import HTTPTypes
  public import Larder

  extension HTTPResponse {
    /// The wait that the origin demands by `Retry-After` of a 429 or 503, as seconds or as a date (RFC 9110, section
    /// 10.2.3); nil if the origin demands no wait, zero for a time that has passed.
    ///
    /// A date is compared with the `Date` of the response, if any, so that a wrong clock on either side does not matter.
    public func retryAfter(at now: Timestamp) -> Duration? {
      guard [429, 503].contains(status.code), let text = headerFields[values: .retryAfter].first
      else { return nil }
      if let seconds = DeltaSeconds.parse(text) { return .seconds(seconds) }
      guard let end = HTTPDate(strictly: text, now: now)?.timestamp else { return nil }
      let date = headerFields[.date].flatMap { HTTPDate(strictly: $0, now: now)?.timestamp }
      return max(.zero, (date ?? now).duration(to: end))
    }
  }
#endif
