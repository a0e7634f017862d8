import ShellLanguage

/// The effect of a command on expiries: `was ... now ...`.
struct ExpiryReport {
  /// A range of expiry times. `never` is later than any time.
  private struct Span: Equatable {
    let earliest: Deadline
    let latest: Deadline

    init(_ former: Span?, adding time: UnixTime?) {
      let time = Deadline(time)
      earliest = min(former?.earliest ?? time, time)
      latest = max(former?.latest ?? time, time)
    }

    var isSingle: Bool { earliest == latest }

    var json: JSON {
      .object([
        .init("earliest", Cell.expiry(earliest.time).jsonField("").value),
        .init("latest", Cell.expiry(latest.time).jsonField("").value),
      ])
    }
  }

  enum Effect {
    case changed(from: UnixTime?, to: UnixTime?)
    case unchanged
    /// The entry never expires, so a relative change does not change its expiry.
    case permanent

    var isChange: Bool { if case .changed = self { true } else { false } }
  }

  private(set) var changed = 0
  private(set) var unchanged = 0
  /// Entries that never expire, which a relative change does not touch.
  private(set) var permanent = 0
  private var was: Span?
  private var now: Span?

  mutating func add(_ effect: Effect) -> Bool {
    switch effect {
    case .changed(let before, let after):
      changed += 1
      was = Span(was, adding: before)
      now = Span(now, adding: after)
      return true
    case .unchanged: unchanged += 1
    case .permanent: permanent += 1
    }
    return false
  }

  var isEmpty: Bool { changed == 0 && unchanged == 0 && permanent == 0 }

  var fields: [ChangeSummary.Field] {
    [
      ("unchanged", .number(unchanged)), ("permanent", .number(permanent)),
      ("expires", now.map { $0.isSingle ? .expiry($0.latest.time) : .null } ?? .null),
      ("was", was.map { .json($0.json) } ?? .null), ("now", now.map { .json($0.json) } ?? .null),
    ]
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
    guard changed > 1 else {
      let one: SafeText =
        "was \(clock.expiryAndClock(was.latest.time)), now \(clock.expiryAndClock(now.latest.time))"
      return ([one] + rest).joined(separator: "; ")
    }
    let many: SafeText =
      "\(Wording.entries(changed)): were \(words(was, clock)), now \(words(now, clock))"
    return ([many] + rest).joined(separator: "; ")
  }

  private func words(_ span: Span, _ clock: WallClock) -> String {
    func moment(_ deadline: Deadline) -> String { deadline.time.map(clock.clock) ?? "never" }
    let (first, last) = (moment(span.earliest), moment(span.latest))
    guard first == last else { return "\(first) to \(last)" }
    guard let time = span.latest.time else { return "never" }
    return "\(clock.clock(time)) (\(clock.distance(to: time)))"
  }
}
