/// The time at which an entry expires. `never` is later than any time.
package enum Deadline: Sendable, Hashable, Comparable {
  case at(UnixTime)
  case never

  package init(_ time: UnixTime?) { self = time.map { .at($0) } ?? .never }

  package var time: UnixTime? { if case .at(let time) = self { time } else { nil } }
}

package enum ExpiryChange: Sendable, Hashable {
  case to(Deadline)
  /// Later than the present expiry of the entry, by this duration.
  case later(Duration)
}

extension Word {
  /// `never`, or a time in a form of `help times`. A duration counts from now.
  package func deadline(_ clock: WallClock) throws(ShellError) -> Deadline {
    if bytes.elementsEqual("never".utf8, by: { $0 | 0x20 == $1 }) { return .never }
    return .at(try timeAhead(clock))
  }

  /// `never`, a time, or `+DURATION`, which is added to the present expiry of an entry.
  package func expiryChange(_ clock: WallClock) throws(ShellError) -> ExpiryChange {
    switch bytes.first {
    case UInt8(ascii: "+"): return .later(try dropping(1).duration())
    case UInt8(ascii: "-"):
      throw wrong(
        "time", "it is negative", "use `--at-most` with a time to expire entries earlier")
    default: return .to(try deadline(clock))
    }
  }
}
