import LarderSystem

extension Word {
  /// A duration such as `90s`, `1h30m`, `1h 30m` or `1.5h`; `0` is allowed.
  package func duration() throws(ShellError) -> Duration {
    let text = try numberText("duration")
    guard text != "0" else { return .zero }
    guard !text.hasPrefix("-") else { throw wrong("duration", "it is negative", "use `15m`") }

    var total: Int64 = 0
    var rest = text[...]
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count)
      let unit = rest.prefix { !$0.isNumber && $0 != "." && $0 != " " }
      rest = rest.dropFirst(unit.count)
      // Removes at most one space, because more spaces between two parts are an error.
      if rest.first == " ", rest.count > 1 { rest.removeFirst() }
      guard let decimal = DecimalNumber(number) else {
        throw wrong(
          "duration", DecimalNumber.problem(of: number, "it is too long"),
          "use `90s`, `15m`, `1h30m` or `7d`")
      }
      if let problem = Self.vagueUnit(unit, after: decimal, number: String(number)) {
        throw wrong("duration", problem.message, problem.hint)
      }
      guard let length = Self.units[String(unit)] else {
        let lowercase = unit.lowercased()
        throw wrong(
          "duration", "there is no unit \(Array(unit.utf8))",
          Self.units[lowercase] == nil
            ? "units are ms s m h d w" : "units are lower case: \(String(number))\(lowercase)")
      }
      let (sum, overflow) = total.addingReportingOverflow(decimal.times(length) ?? .max)
      guard !overflow, sum <= UnixTime.last.milliseconds else {
        throw wrong("duration", "it is too long", "`never` has no end")
      }
      total = sum
    }
    return .milliseconds(total)
  }

  private static let units: [String: Int64] = [
    "ms": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000,
    "h": 3_600_000, "hr": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
    "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
    "w": 604_800_000, "week": 604_800_000, "weeks": 604_800_000,
  ]

  /// The error for a missing unit, or for a unit without a fixed length, such as a month. Nil for other units.
  private static func vagueUnit(
    _ unit: Substring, after decimal: DecimalNumber, number: String
  ) -> (message: SafeText, hint: SafeText)? {
    // If the number in the word is whole and at most 100, the hint uses this number. Otherwise the hint uses 1.
    let count = decimal.whole.flatMap { $0 <= 100 ? Int($0) : nil } ?? 1
    let months: SafeText = "`\(count * 30)d` or `\(count * 4)w`"
    switch unit {
    case "": return ("it has no unit", "use `\(number)s`, `\(number)m` or `\(number)h`")
    case "M": return ("minutes are m, and months vary in length", "use `\(number)m`, or \(months)")
    case "mo", "mos", "month", "months": return ("months vary in length", "use \(months)")
    case "y", "yr", "year", "years": return ("years vary in length", "use `\(count * 365)d`")
    default: return nil
    }
  }

  /// The text of a word that must be a number with a unit.
  func numberText(_ kind: String) throws(ShellError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
      throw wrong(kind)
    }
    return text
  }

  func wrong(_ kind: String, _ what: SafeText? = nil, _ hint: SafeText? = nil) -> ShellError {
    let isSize = kind == "size"
    let reason: SafeText = what.map { ": \($0)" } ?? ""
    return ShellError(
      isSize ? .badSize : .badTime, "\(bytes) is not a \(kind)\(reason)", at: range,
      hint: hint ?? (isSize ? "use `10kB` or `1.5MB`" : "use `90s` or `15m`"))
  }
}

/// A number with an optional fraction. The number is exact; `times` rounds the product.
struct DecimalNumber {
  private let billionths: Int128

  private static let mostDigits = 15

  static func problem(of text: Substring, _ tooLarge: SafeText) -> SafeText {
    guard !text.isEmpty else { return "it does not begin with a number" }
    return text.prefix { $0 != "." }.count > mostDigits
      ? tooLarge : "\(Array(text.utf8)) is not a number"
  }

  /// Reads `12` or `1.5`, with at most 15 digits before the point and 9 digits after it; nil for other text.
  init?(_ text: Substring) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
      parts[0].count <= Self.mostDigits, parts.count == 1 || parts[1].count <= 9
    else { return nil }
    let zeroes = String(repeating: "0", count: parts.count == 1 ? 9 : 9 - parts[1].count)
    guard let billionths = Int128(parts.joined() + zeroes) else { return nil }
    self.billionths = billionths
  }

  var whole: Int64? { billionths % 1_000_000_000 == 0 ? Int64(billionths / 1_000_000_000) : nil }

  /// The product, rounded to the nearest whole number; nil if Int64 cannot hold the product.
  func times(_ unit: Int64) -> Int64? {
    Int64(exactly: (billionths * Int128(unit) + 500_000_000) / 1_000_000_000)
  }
}

extension Word {
  /// A number of bytes such as `512`, `10kB` or `1.5GiB`; the unit may be in either case.
  package func size() throws(ShellError) -> Int {
    let text = try numberText("size")
    guard !text.hasPrefix("-") else { throw wrong("size", "it is negative") }
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(number.count).lowercased()
    guard let decimal = DecimalNumber(number) else {
      throw wrong("size", DecimalNumber.problem(of: number, "it is too large"))
    }
    if ["k", "m", "g", "t"].contains(unit) {
      let prefix = unit == "k" ? "k" : unit.uppercased()
      let kibi = unit.uppercased()
      func reading(_ symbol: String) -> SafeText {
        let bytes = Self.sizeUnits[symbol.lowercased()].flatMap(decimal.times) ?? .max
        return "\(String(number))\(symbol) (\(Wording.count(Int(bytes))) bytes)"
      }
      throw wrong(
        "size", "the unit is ambiguous", "use \(reading(prefix + "B")) or \(reading(kibi + "iB"))")
    }
    guard let length = Self.sizeUnits[unit] else {
      throw wrong(
        "size", "there is no unit \(Array(text.dropFirst(number.count).utf8))",
        "units are B kB MB GB TB, and KiB MiB GiB TiB")
    }
    guard length > 1 || decimal.whole != nil else {
      throw wrong("size", "a number of bytes is whole")
    }
    guard let size = decimal.times(length) else { throw wrong("size", "it is too large") }
    return Int(size)
  }

  /// A whole number of at least 0. `k` multiplies the number by a thousand, `M` by a million.
  package func count() throws(ShellError) -> Int {
    let text = String(validating: bytes, as: UTF8.self) ?? ""
    let factor: Int64 = text.hasSuffix("k") ? 1000 : text.hasSuffix("M") ? 1_000_000 : 1
    let number = factor == 1 ? text[...] : text.dropLast()
    let isWhole = !number.isEmpty && number.utf8.allSatisfy(\.isDigit)
    let count =
      factor == 1
      ? (isWhole ? Int(number) : nil) : DecimalNumber(number)?.times(factor).map { Int($0) }
    guard let count else {
      throw misuse(
        "\(bytes) is \(isWhole ? "too large" : "not a whole number")", "use `50`, `5k` or `2M`")
    }
    return count
  }

  private static let sizeUnits: [String: Int64] = [
    "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
  ]
}
