import ShellLanguage

/// The effect of a command on expiries. A sentence has the form `was ... now ...`.
struct ExpiryReport {
  enum Effect {
    case changed(from: UnixTime?, to: UnixTime?)
    case unchanged
    /// The entry never expires, so a relative change (`+2h`) does not change its expiry.
    case permanent
  }

  private(set) var changed = 0
  private(set) var unchanged = 0
  private(set) var permanent = 0
  private var was: ClosedRange<Deadline>?
  private var now: ClosedRange<Deadline>?

  mutating func add(_ effect: Effect) -> Bool {
    switch effect {
    case .changed(let before, let after):
      changed += 1
      was.widen(to: Deadline(before))
      now.widen(to: Deadline(after))
      return true
    case .unchanged: unchanged += 1
    case .permanent: permanent += 1
    }
    return false
  }

  var fields: [ChangeSummary.Field] {
    let isSingle = now.map { $0.lowerBound == $0.upperBound } ?? false
    return [
      ("unchanged", .number(unchanged)), ("permanent", .number(permanent)),
      ("expires", isSingle ? .expiry(now?.upperBound.time) : .null),
      ("was", .optional(was, Self.cell)), ("now", .optional(now, Self.cell)),
    ]
  }

  private static func cell(_ range: ClosedRange<Deadline>) -> Cell {
    let earliest = Cell.expiry(range.lowerBound.time).jsonField("earliest")
    return .json(.object([earliest, Cell.expiry(range.upperBound.time).jsonField("latest")]))
  }

  /// The sentence for one entry, `was in 23 h 52 min (Sun 22:10), now in 2 h (Sat 00:18)`, or for several entries,
  /// `40 entries: were 20:10 to 22:40, now Sat 00:00 (in 1 h 47 min); 3 unchanged`.
  func sentence(_ clock: WallClock) -> SafeText {
    var rest: [SafeText] = []
    if unchanged > 0 { rest.append("\(Wording.count(unchanged)) unchanged") }
    if permanent > 0 {
      rest.append("\(Wording.count(permanent)) never \(permanent == 1 ? "expires" : "expire")")
    }
    guard let was, let now else { return rest.joined(separator: "; ") }
    let change: SafeText =
      changed == 1
      ? "was \(clock.expiryAndClock(was.upperBound.time)), now \(clock.expiryAndClock(now.upperBound.time))"
      : "\(Wording.entries(changed)): were \(words(was, clock)), now \(words(now, clock))"
    return ([change] + rest).joined(separator: "; ")
  }

  private func words(_ range: ClosedRange<Deadline>, _ clock: WallClock) -> String {
    func moment(_ deadline: Deadline) -> String { deadline.time.map(clock.clock) ?? "never" }
    let (first, last) = (moment(range.lowerBound), moment(range.upperBound))
    guard first == last else { return "\(first) to \(last)" }
    guard let time = range.upperBound.time else { return "never" }
    return "\(clock.clock(time)) (\(clock.distance(to: time)))"
  }
}

extension Optional {
  /// Extends the range to a value. If there is no range yet, makes a range of only this value.
  mutating func widen<Bound: Comparable>(to value: Bound) where Wrapped == ClosedRange<Bound> {
    self = map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
  }
}
