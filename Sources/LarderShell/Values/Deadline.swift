package import Larder

/// When an entry is to expire.
package enum Deadline: Sendable, Hashable {
  case never
  case at(Timestamp)

  /// Nil for never.
  var time: Timestamp? {
    if case .at(let time) = self { time } else { nil }
  }
}

extension Expiration {
  init(_ deadline: Deadline) {
    self = deadline.time.map { .at($0) } ?? .never
  }
}

extension SafeText {
  /// `12 entries never expire`
  static func neverExpire(_ count: Int) -> SafeText {
    "\(Wording.entries(count)) never \(count == 1 ? "expires" : "expire")"
  }
}
