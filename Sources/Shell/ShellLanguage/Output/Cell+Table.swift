extension Cell {
  /// The text of the cell in a table, safe to print. Empty only for a blank cell and for a bar of length zero. A brief text of a
  /// time has fewer columns, such as `in 4 h` without the time of day.
  package func shown(_ presentation: Presentation, isBrief: Bool = false) -> String {
    let clock = presentation.clock
    let dash = presentation.dash
    return switch self {
    case .bytes(let bytes): Quoting.key(bytes)
    case .base64(let bytes): Quoting.quoted(bytes)
    case .text(let text), .prose(let text): text.isEmpty ? dash : SafeText(text).description
    case .number(let number): Wording.count(number)
    case .size(let size): Wording.size(size)
    case .time(let time): clock.distance(to: time, isBrief: isBrief)
    case .deadline(let time) where !isBrief: clock.expiryAndClock(time)
    case .expiry(let time), .deadline(let time): clock.expiry(time, isBrief: isBrief)
    case .stale(let time): isBrief ? "stale" : "stale, \(clock.expiry(time))"
    case .span(let span): (span < 0 ? "-" : "") + Wording.span(Int64(clamping: span.magnitude))
    case .bool(let value): value ? "yes" : "no"
    case .share(let value): Wording.percent(value)
    case .bar(let value): Bar.text(value, width: Bar.width, hasUnicode: presentation.hasUnicode)
    case .entry(let namespace, let key): "\(SafeText(namespace)) \(SafeText(quoting: key))"
    case .list(let cells):
      cells.isEmpty ? dash : cells.map { $0.shown(presentation) }.joined(separator: ", ")
    case .json(let value): SafeText(value.text).description
    case .value(let text, let json, _):
      text.isEmpty || json == .null ? dash : SafeText(text).description
    case .null: dash
    case .blank: ""
    }
  }

  var isNothing: Bool {
    switch self {
    case .null, .blank, .value(_, .null, _): true
    default: false
    }
  }
  var isTime: Bool {
    switch self {
    case .time, .expiry, .deadline, .stale: true
    default: false
    }
  }
  var isProse: Bool { if case .prose = self { true } else { false } }
  var isWords: Bool { if case .text = self { true } else { isProse } }
  var isBar: Bool { if case .bar = self { true } else { false } }
  var isShare: Bool { if case .share = self { true } else { false } }

  package var isRight: Bool {
    switch self {
    case .number, .size, .span, .share, .null, .blank: true
    case .value(_, let json, let isNumber): isNumber || json == .null
    default: false
    }
  }
}

package enum Bar {
  /// The width of a full bar in a table that is not narrowed.
  package static let width = 20

  /// A bar of block characters in steps of an eighth, or of `#`. A share above zero always gives a visible bar.
  package static func text(_ share: Double, width: Int, hasUnicode: Bool) -> String {
    let share = share.isFinite ? min(max(share, 0), 1) : 0
    guard share > 0 else { return "" }
    guard hasUnicode else {
      return String(repeating: "#", count: max(Int((share * Double(width)).rounded()), 1))
    }
    let eighths = max(Int((share * Double(width * 8)).rounded()), 1)
    let part = eighths % 8
    return String(repeating: "\u{2588}", count: eighths / 8)
      + (part == 0 ? "" : String(Unicode.Scalar(0x2590 - UInt32(part))!))
  }

  static func chart(
    _ rows: [(label: String, count: Int)], for presentation: Presentation
  ) -> [UInt8] {
    let labels = rows.map { presentation.drawable(SafeText($0.label)) }
    let counts = rows.map { Wording.count($0.count) }
    let labelWidth = labels.map { DisplayWidth.of($0) }.max() ?? 0
    let countWidth = counts.map(\.count).max() ?? 0
    let columns = presentation.width ?? 80
    let width = max(columns - labelWidth - countWidth - 4, 1)
    let most = max(rows.map(\.count).max() ?? 0, 1)
    var result = ""
    for (index, row) in rows.enumerated() {
      let share = Double(row.count) / Double(most)
      let bar = text(share, width: width, hasUnicode: presentation.hasUnicode)
      let count = DisplayWidth.pad(counts[index], to: countWidth, isRight: true)
      var line = "\(DisplayWidth.pad(labels[index], to: labelWidth))  \(count)"
      if !bar.isEmpty { line += " \(bar)" }
      result += DisplayWidth.fit(line, to: columns, mark: presentation.cutMark) + "\n"
    }
    return Array(result.utf8)
  }
}
