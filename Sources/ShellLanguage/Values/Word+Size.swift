extension Word {
  /// A number of bytes such as `512`, `10kB` or `1.5GiB`; the case of the unit does not matter.
  package func size() throws(ShellError) -> Int {
    let text = try numberText("size", code: .badSize)
    func wrong(_ what: SafeText, _ hint: SafeText) -> ShellError {
      ShellError(
        .badSize, "\(bytes) is not a size: \(what)", at: range, hint: hint)
    }
    guard !text.hasPrefix("-") else { throw wrong("it is negative", "use `10kB` or `1.5MB`") }
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(number.count).lowercased()
    guard let decimal = DecimalNumber(number) else {
      throw wrong(DecimalNumber.flaw(of: number, "it is too large"), "use `10kB` or `1.5MB`")
    }
    if ["k", "m", "g", "t"].contains(unit) {
      let prefix = unit == "k" ? "k" : unit.uppercased()
      let kibi = unit.uppercased()
      func reading(_ symbol: String) -> SafeText {
        let bytes = Self.sizeUnits[symbol.lowercased()].flatMap(decimal.times) ?? .max
        return "\(String(number))\(symbol) (\(Wording.count(Int(bytes))) bytes)"
      }
      throw wrong(
        "the unit is ambiguous", "use \(reading(prefix + "B")) or \(reading(kibi + "iB"))")
    }
    guard let length = Self.sizeUnits[unit] else {
      throw wrong(
        "there is no unit \(Array(text.dropFirst(number.count).utf8))",
        "units are B kB MB GB TB, and KiB MiB GiB TiB")
    }
    guard length > 1 || decimal.whole != nil else {
      throw wrong("a number of bytes is whole", "use `10kB` or `1.5MB`")
    }
    guard let size = decimal.times(length) else {
      throw wrong("it is too large", "use `10kB` or `1.5MB`")
    }
    return Int(size)
  }

  /// A whole number from 0; `k` and `M` multiply it by a thousand and a million.
  package func count() throws(ShellError) -> Int {
    let text = String(validating: bytes, as: UTF8.self) ?? ""
    let factor: Int64 = text.hasSuffix("k") ? 1000 : text.hasSuffix("M") ? 1_000_000 : 1
    let number = factor == 1 ? text[...] : text.dropLast()
    let count =
      factor == 1
      ? (number.utf8.allSatisfy(\.isDigit) ? Int(number) : nil)
      : DecimalNumber(number)?.times(factor).map { Int($0) }
    guard let count else {
      let isLarge = !number.isEmpty && number.utf8.allSatisfy(\.isDigit)
      throw ShellError(
        .usage, "\(bytes) is \(isLarge ? "too large" : "not a whole number")", at: range,
        hint: "use `50`, `5k` or `2M`")
    }
    return count
  }

  private static let sizeUnits: [String: Int64] = [
    "": 1, "b": 1,
    "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
  ]
}
