import HTTPTypes
import Larder

/// The age of a response (RFC 9111, 4.2.3).
struct ResponseAge: Equatable {
  /// The age on arrival in seconds: `corrected_initial_age`.
  let initial: Int
  let received: Timestamp

  init(_ fields: HTTPFields, requested: Timestamp, received: Timestamp) {
    let date = fields[values: .date].first.flatMap { HTTPDate(leniently: $0, now: received) }
    let apparent = date.map { max(0, HTTPDate(received).seconds - $0.seconds) } ?? 0
    let delay = max(0, requested.duration(to: received).components.seconds)
    let corrected = Int64(Self.value(fields) ?? 0) + delay
    initial = Int(clamping: max(apparent, corrected))
    self.received = received
  }

  /// In whole seconds, rounded down.
  func seconds(at now: Timestamp) -> Int {
    let resident = max(0, received.duration(to: now).components.seconds)
    return initial + Int(clamping: resident)
  }

  /// The value of `Age` (RFC 9111, 5.1). The first of several members counts; a member that is not a number is ignored.
  ///
  /// Parameters after the number are ignored, because a higher age is safer than none.
  static func value(_ fields: HTTPFields) -> Int? {
    guard let first = fields.members(of: .age).first else { return nil }
    return DeltaSeconds.parse(first.prefix { $0 != ";" })
  }
}
