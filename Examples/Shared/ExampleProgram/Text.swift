extension Int {
  /// With a comma before every three digits.
  public var grouped: String {
    var text = ""
    for (place, digit) in String(magnitude).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}

extension String {
  public func padding(to width: Int, with filler: Character) -> String {
    self + String(repeating: filler, count: Swift.max(0, width - count))
  }

  public func padded(to width: Int) -> String { padding(to: width, with: " ") }

  public func flushRight(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }

  /// As a word that a shell reads as it is.
  public var shellWord: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "/._-+:,@%".utf8.contains(byte)
        }
      } && !hasPrefix("-")
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
