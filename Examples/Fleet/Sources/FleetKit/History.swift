import Foundation

/// One call of a machine, as the machine saw it. Times are microseconds of the clock that all processes of a computer share.
public struct Call: Sendable {
  /// The kinds of calls.
  public enum Kind: String, Sendable {
    /// A read.
    case read = "r"
    /// A change that the tier has confirmed.
    case write = "w"
    /// A change with an unknown outcome.
    case attempt = "a"
  }

  /// The kind of the call.
  public var kind: Kind
  /// The time at which the call began.
  public var start: Int
  /// The time at which the call returned.
  public var end: Int
  /// The key.
  public var key: Int
  /// The value that was read; for a change, the newest value of the origin. Each change gives the key a higher value.
  public var value: Int
  /// The source of the value; empty for a change.
  public var source = ""
  /// Whether the answer promised that the value was current.
  public var isConfirmed = true

  var line: String {
    "\(kind.rawValue) \(start) \(end) \(key) \(value) \(source.isEmpty ? "-" : source) \(isConfirmed ? 1 : 0)"
  }

  /// Reads a call from a line; nil for a line that is cut short.
  init?(_ line: some StringProtocol) {
    let words = line.split(separator: " ")
    guard words.count == 7, let kind = Kind(rawValue: String(words[0])), let start = Int(words[1]),
      let end = Int(words[2]), let key = Int(words[3]), let value = Int(words[4])
    else { return nil }
    self.init(
      kind: kind, start: start, end: end, key: key, value: value, source: String(words[5]),
      isConfirmed: words[6] == "1")
  }

  /// A call with these values.
  public init(
    kind: Kind, start: Int, end: Int, key: Int, value: Int, source: String = "",
    isConfirmed: Bool = true
  ) {
    self.kind = kind
    self.start = start
    self.end = end
    self.key = key
    self.value = value
    self.source = source
    self.isConfirmed = isConfirmed
  }

  /// The current time.
  public static var now: Int {
    Int(clamping: DispatchTime.now().uptimeNanoseconds / 1000)
  }
}

/// The calls of one machine, by one or more processes.
public struct History: Sendable {
  /// The calls, in no particular order.
  public var calls: [Call]

  /// Reads the history from a file.
  public init(readingFrom path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    calls = text.split(separator: "\n").compactMap { Call($0) }
  }

  /// A history with these calls.
  public init(_ calls: [Call]) { self.calls = calls }
}

/// Checks the promise of a tier over the histories of all machines.
public struct Checker {
  /// The promised staleness plus the resolution of clocks, in microseconds.
  static let bound = 2_100_000

  private let histories: [History]
  private let losses: [ClosedRange<Int>]

  /// A checker over the histories of all machines.
  ///
  /// - Parameter losses: times in which the server lost changes that it had confirmed. The checker ignores calls during a loss,
  ///   and does not compare calls before a loss with calls after it.
  public init(_ histories: [History], losses: [ClosedRange<Int>] = []) {
    self.histories = histories
    self.losses = losses
  }

  /// Descriptions of the calls that break the promise.
  public func violations() -> [String] {
    var found: [String] = []
    var changes: [Int: [Call]] = [:]
    for call in histories.flatMap(\.calls) where call.kind == .write {
      changes[call.key, default: []].append(call)
    }
    for (machine, history) in histories.enumerated() {
      let reads = Dictionary(grouping: history.calls.filter { $0.kind == .read }, by: \.key)
      for (key, reads) in reads {
        found += monotony(reads).map { "machine \(machine), key \(key): \($0)" }
        found += staleness(reads, changes[key] ?? []).map {
          "machine \(machine), key \(key): \($0)"
        }
      }
    }
    return found
  }

  /// The reads whose value is older than the value of an earlier confirmed read, which had already ended.
  private func monotony(_ reads: [Call]) -> [String] {
    var newest: (value: Int, era: Int)?
    var ended = reads.filter(\.isConfirmed).sorted { $0.end < $1.end }[...]
    return reads.sorted { $0.start < $1.start }.compactMap { read in
      while let next = ended.first, next.end < read.start {
        ended.removeFirst()
        guard let era = era(of: next) else { continue }
        if newest.map({ era > $0.era || (era == $0.era && next.value > $0.value) }) ?? true {
          newest = (next.value, era)
        }
      }
      guard let newest, era(of: read) == newest.era, read.value < newest.value else { return nil }
      return "\(read.line) came after \(newest.value)"
    }
  }

  /// The confirmed reads that began more than the bound after the end of a change, and got a value older than that change.
  private func staleness(_ reads: [Call], _ changes: [Call]) -> [String] {
    var newest: (value: Int, era: Int)?
    var ended = changes.sorted { $0.end < $1.end }[...]
    return reads.filter(\.isConfirmed).sorted { $0.start < $1.start }.compactMap { read in
      while let next = ended.first, next.end < read.start - Self.bound {
        ended.removeFirst()
        guard let era = era(of: next) else { continue }
        if newest.map({ era > $0.era || (era == $0.era && next.value > $0.value) }) ?? true {
          newest = (next.value, era)
        }
      }
      guard let newest, era(of: read) == newest.era, read.value < newest.value else { return nil }
      return "\(read.line) is older than the change to \(newest.value)"
    }
  }

  /// The number of losses before a call; nil if a loss overlaps the call.
  private func era(of call: Call) -> Int? {
    if losses.contains(where: { $0.lowerBound <= call.end && call.start <= $0.upperBound }) {
      return nil
    }
    return losses.count { $0.upperBound < call.start }
  }

  /// The longest time for which a returned value was already out of date, in microseconds.
  ///
  /// - Parameter time: the range of the times at which the reads began.
  public func worstStaleness(in time: Range<Int>) -> Int {
    var changes: [Int: [Call]] = [:]
    for call in histories.flatMap(\.calls) where call.kind == .write {
      changes[call.key, default: []].append(call)
    }
    return histories.flatMap(\.calls).reduce(0) { worst, read in
      guard read.kind == .read, time.contains(read.start), let era = era(of: read) else {
        return worst
      }
      let newer = changes[read.key, default: []].filter {
        $0.value > read.value && $0.end < read.start && self.era(of: $0) == era
      }
      return max(worst, newer.map { read.start - $0.end }.max() ?? 0)
    }
  }
}
