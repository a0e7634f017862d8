import LarderSystem

/// How scarce memory is. Linux tells for how much of the time processes wait for memory (pressure stall information), and which
/// part of the memory of the process's control group cannot be reclaimed. macOS tells the pressure itself.
package enum MemoryPressure: Int, Sendable, Comparable {
  case normal
  /// Tasks wait for memory 10 % of the time, or 90 % of the group's limit is used. Half of the decoded values are dropped.
  case warning
  /// All tasks wait for memory 5 % of the time, or 97 % of the limit is used. Nine tenths of the values are dropped.
  case critical

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  var keptFraction: Double? {
    switch self {
    case .normal: nil
    case .warning: 0.5
    case .critical: 0.1
    }
  }

  /// Computes the pressure from the texts of Linux files. Of `memory.stat`, counts `anon`, which only swapping can reclaim.
  package init(stalls: String?, limit: String?, statistics: String?) {
    var found = MemoryPressure.normal
    for line in stalls?.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ")
      let field = words.first { $0.hasPrefix("avg10=") }
      guard let average = field.flatMap({ Double($0.dropFirst(6)) }) else { continue }
      if words[0] == "full", average >= 5 { found = max(found, .critical) }
      if words[0] == "some", average >= 10 { found = max(found, .warning) }
    }
    let words = statistics?.split(whereSeparator: \.isWhitespace) ?? []
    if let limit = limit.flatMap({ Double($0.split(whereSeparator: \.isWhitespace).first ?? "") }),
      limit > 0, let place = words.firstIndex(of: "anon"), place + 1 < words.count,
      let used = Double(words[place + 1])
    {
      if used >= limit * 0.9 { found = max(found, .warning) }
      if used >= limit * 0.97 { found = .critical }
    }
    self = found
  }
}

#if os(macOS)
  import Dispatch
  import Synchronization

  extension MemoryPressure {
    private static let level = Atomic(MemoryPressure.normal.rawValue)
    private static let source: any DispatchSourceMemoryPressure = {
      let source = DispatchSource.makeMemoryPressureSource(
        eventMask: [.normal, .warning, .critical], queue: .global(qos: .utility))
      source.setEventHandler {
        let event = source.data
        let found: MemoryPressure =
          event.contains(.critical) ? .critical : event.contains(.warning) ? .warning : .normal
        level.store(found.rawValue, ordering: .relaxed)
      }
      source.activate()
      return source
    }()

    package static func current() -> MemoryPressure {
      _ = source
      return MemoryPressure(rawValue: level.load(ordering: .relaxed)) ?? .normal
    }
  }
#else
  extension MemoryPressure {
    /// The directory of the process's control group, in version 2 of the hierarchy; nil if the process has no such group.
    private static let group: String? = {
      guard
        let line = text("/proc/self/cgroup")?.split(separator: "\n")
          .first(where: { $0.hasPrefix("0::/") })
      else { return nil }
      return "/sys/fs/cgroup" + line.dropFirst(3)
    }()

    /// The present pressure. Reads at most four small files.
    package static func current() -> MemoryPressure {
      MemoryPressure(
        stalls: group.flatMap { text($0 + "/memory.pressure") } ?? text("/proc/pressure/memory"),
        limit: group.flatMap { text($0 + "/memory.max") },
        statistics: group.flatMap { text($0 + "/memory.stat") })
    }

    /// The first 4096 bytes of a system file; nil if the file is empty or cannot be read.
    private static func text(_ path: String) -> String? {
      guard let file = FileDescriptor.reading(path),
        let bytes = try? file.contents(at: 0, count: 4096), !bytes.isEmpty
      else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
