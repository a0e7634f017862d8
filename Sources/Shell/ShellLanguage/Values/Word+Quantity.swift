import LarderSystem

extension Word {
  /// A duration such as `90s`, `1h30m`, `1h 30m` or `1.5h`; `0` is allowed.
  package func duration() throws(ShellError) -> Duration {
    let text = try numberText("duration", code: .badTime)
    func wrong(_ what: SafeText, _ hint: SafeText) -> ShellError {
      ShellError(
        .badTime, "\(bytes) is not a duration: \(what)", at: range, hint: hint)
    }
    guard text != "0" else { return .zero }
    guard !text.hasPrefix("-") else { throw wrong("it is negative", "use `15m`") }

    var total: Int64 = 0
    var rest = text[...]
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count)
      let unit = rest.prefix { !$0.isNumber && $0 != "." && $0 != " " }
      rest = rest.dropFirst(unit.count)
      // At most one space may be between two parts.
      if rest.first == " ", rest.count > 1 { rest.removeFirst() }
      guard let decimal = DecimalNumber(number) else {
        throw wrong(
          DecimalNumber.problem(of: number, "it is too long"), "use `90s`, `15m`, `1h30m` or `7d`")
      }
      if let problem = Self.vagueUnit(String(unit), after: decimal, number: String(number)) {
        throw wrong(problem.message, problem.hint)
      }
      guard let length = Self.units[String(unit)] else {
        let lowercase = unit.lowercased()
        throw wrong(
          "there is no unit \(Array(unit.utf8))",
          Self.units[lowercase] == nil
            ? "units are ms s m h d w" : "units are lower case: \(String(number))\(lowercase)")
      }
      let (sum, overflow) = total.addingReportingOverflow(decimal.times(length) ?? .max)
      guard !overflow, sum <= UnixTime.last.milliseconds else {
        throw wrong("it is too long", "`never` has no end")
      }
      total = sum
    }
    return .milliseconds(total)
  }

  private static let units: [String: Int64] = [
    "ms": 1,
    "s": 1000, "sec": 1000,
    "m": 60_000, "min": 60_000,
    "h": 3_600_000, "hr": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
    "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
    "w": 604_800_000, "week": 604_800_000, "weeks": 604_800_000,
  ]

  /// The error for a missing unit, and for a unit without a fixed length; nil for other units.
  private static func vagueUnit(
    _ unit: String, after decimal: DecimalNumber, number: String
  ) -> (message: SafeText, hint: SafeText)? {
    // The hint keeps a number that is small enough to be useful.
    let count = decimal.whole.flatMap { $0 <= 100 ? Int($0) : nil } ?? 1
    switch unit {
    case "":
      return ("it has no unit", "use `\(number)s`, `\(number)m` or `\(number)h`")
    case "M":
      return (
        "minutes are m, and months vary in length",
        "use `\(number)m`, or `\(count * 30)d` or `\(count * 4)w`"
      )
    case "mo", "mos", "month", "months":
      return ("months vary in length", "use `\(count * 30)d` or `\(count * 4)w`")
    case "y", "yr", "year", "years":
      return ("years vary in length", "use `\(count * 365)d`")
    default:
      return nil
    }
  }

  /// The text of a word that should be a number with a unit.
  package func numberText(_ kind: String, code: ShellError.Code) throws(ShellError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
      throw ShellError(
        code, "\(bytes) is not a \(kind)", at: range,
        hint: kind == "size" ? "use `10kB` or `1.5MB`" : "use `90s` or `15m`")
    }
    return text
  }
}

/// Digits with an optional fraction. The number is exact until `times` multiplies it by a unit.
package struct DecimalNumber {
  private let integer: Int64
  private let fraction: Int64
  private let scale: Int64

  private static let mostDigits = 15

  /// The reason why a text is not such a number.
  static func problem(of text: Substring, _ tooLarge: SafeText) -> SafeText {
    guard !text.isEmpty else { return "it does not begin with a number" }
    return text.prefix { $0 != "." }.count > mostDigits
      ? tooLarge : "\(Array(text.utf8)) is not a number"
  }

  /// Reads `12` or `1.5`, with at most 15 digits before the point and 9 digits after it; nil for other text.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
      parts[0].count <= Self.mostDigits, parts.count == 1 || parts[1].count <= 9,
      let integer = Int64(parts[0]), let fraction = parts.count == 1 ? 0 : Int64(parts[1])
    else { return nil }
    self.integer = integer
    self.fraction = fraction
    scale = (0..<(parts.count == 1 ? 0 : parts[1].count)).reduce(1) { scale, _ in scale * 10 }
  }

  /// The number; nil if it has a fraction.
  package var whole: Int64? { fraction == 0 ? integer : nil }

  /// The product rounded to the nearest whole number; nil beyond Int64.
  package func times(_ unit: Int64) -> Int64? {
    let (product, overflow) = integer.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    let part = fraction.multipliedFullWidth(by: unit)
    let (quotient, remainder) = scale.dividingFullWidth(part)
    let (sum, tooBig) = product.addingReportingOverflow(
      quotient + (remainder >= scale - remainder ? 1 : 0))
    return tooBig ? nil : sum
  }
}

extension Word {
  /// A number of bytes such as `512`, `10kB` or `1.5GiB`; the unit may be in either case.
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
      throw wrong(DecimalNumber.problem(of: number, "it is too large"), "use `10kB` or `1.5MB`")
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

  /// A whole number from 0; `k` and `M` multiply the number by a thousand and a million.
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
