#if HTTP
  import HTTPTypes

  /// A requested range (RFC 9110, 14.1.2).
  enum ByteRange: Equatable {
    /// The bytes from a first position to a last position, or to the end of the body if `to` is nil.
    case from(Int, to: Int?)
    /// This many bytes at the end.
    case suffix(Int)

    /// The ranges of a request. Nil if the request has no valid range; the answer is then the same as without a range.
    static func parse(_ fields: HTTPFields) -> [ByteRange]? {
      let lines = fields[values: .range]
      guard lines.count == 1, let equals = lines[0].firstIndex(of: "="),
        lines[0][..<equals].trimmed.lowercased() == "bytes"
      else { return nil }
      let members = fieldMembers([String(lines[0][lines[0].index(after: equals)...])])
      let ranges = members.compactMap { ByteRange($0) }
      return ranges.isEmpty || ranges.count < members.count ? nil : ranges
    }

    private init?(_ text: Substring) {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(\.trimmed)
      guard parts.count == 2 else { return nil }
      let last = ContentRange.position(parts[1])
      if parts[0].isEmpty {
        guard let last else { return nil }
        self = .suffix(last)
      } else {
        guard let first = ContentRange.position(parts[0]), parts[1].isEmpty || last != nil,
          last.map({ $0 >= first }) ?? true
        else { return nil }
        self = .from(first, to: last)
      }
    }

    /// The bytes of the range in a representation of `count` bytes; nil if the range is empty.
    func resolved(in count: Int) -> ClosedRange<Int>? {
      switch self {
      case .from(let first, let last):
        first < count ? first...min(last ?? count - 1, count - 1) : nil
      case .suffix(let length): length > 0 && count > 0 ? max(0, count - length)...count - 1 : nil
      }
    }
  }

  /// The part of a whole that a response holds (RFC 9110, 14.4).
  struct ContentRange: Equatable {
    var bytes: ClosedRange<Int>
    var whole: Int

    var count: Int { bytes.count }

    init(_ bytes: ClosedRange<Int>, of whole: Int) {
      self.bytes = bytes
      self.whole = whole
    }

    /// Reads `Content-Range`; nil if the field is missing, repeated or invalid, or states no length of the whole in bytes.
    init?(_ fields: HTTPFields) {
      let lines = fields[values: .contentRange]
      guard lines.count == 1 else { return nil }
      let words = lines[0].split(separator: " ")
      guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
      let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let whole = Self.position(parts[1]) else { return nil }
      let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2, let first = Self.position(ends[0]), let last = Self.position(ends[1]),
        first <= last, last < whole
      else { return nil }
      self.init(first...last, of: whole)
    }

    var text: String { "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(whole)" }

    var isWhole: Bool { bytes.count == whole }

    /// The union of both parts; nil if there is a gap between them, or if the whole bodies have different lengths.
    func joined(with other: ContentRange) -> ContentRange? {
      guard whole == other.whole, bytes.lowerBound <= other.bytes.upperBound + 1,
        other.bytes.lowerBound <= bytes.upperBound + 1
      else { return nil }
      let first = min(bytes.lowerBound, other.bytes.lowerBound)
      return ContentRange(first...max(bytes.upperBound, other.bytes.upperBound), of: whole)
    }

    /// The range that completes the part; nil if one range cannot complete it.
    var missing: String? {
      if isWhole { return nil }
      if bytes.lowerBound == 0 { return "bytes=\(bytes.upperBound + 1)-" }
      return bytes.upperBound == whole - 1 ? "bytes=0-\(bytes.lowerBound - 1)" : nil
    }

    /// Parses a position. A number that is larger than any possible length becomes 2^56.
    static func position(_ text: some StringProtocol) -> Int? {
      DeltaSeconds.parse(text, limit: 1 << 56)
    }
  }
#endif
