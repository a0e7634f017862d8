#if HTTP
  import Larder
  import Synchronization

  /// How the requests of a cache were answered. ``HTTPCache/statistics`` has the counts of this process since the cache was
  /// made. ``HTTPCache/savedStatistics()`` has the counts that all processes have saved.
  ///
  /// The reads and writes of the store itself are in the statistics of its namespace, for all processes.
  public struct HTTPStatistics: Sendable, Hashable {
    /// The number of answers from the store without a request to the origin, by reason.
    public var hits: [CacheAnswer.Reason: Int] = [:]
    /// The number of answers after a request to the origin, by reason. Background refreshes do not count.
    public var forwards: [CacheForward.Reason: Int] = [:]
    /// The requests to the origin after which a stored response was the answer: confirmed, completed, or stale after a failure.
    public var reuses: [CacheAnswer.Reason: Int] = [:]
    /// Requests that the store answered after they had waited for the exchange of another request.
    public var collapsed = 0
    /// Requests that ended with an error; the errors of ``HTTPCache/pass(_:body:interim:)`` do not count.
    public var failures = 0
    /// Bytes of the bodies of answers with a stored response. A stored part that the origin completed counts as a whole body.
    public var bytesSaved = 0

    /// Requests that were answered.
    public var requests: Int {
      // The counts come from a store and may be any numbers, so their sum must not overflow.
      (Array(hits.values) + Array(forwards.values)).reduce(0) { $0.saturatingAdding($1) }
    }

    /// The answers without a request to the origin divided by all answers; nil without an answer.
    public var hitRate: Double? {
      let hits = hits.values.reduce(0) { $0.saturatingAdding($1) }
      return requests == 0 ? nil : Double(hits) / Double(requests)
    }
  }

  final class HTTPCounters: Sendable {
    private let counts = Mutex((all: HTTPStatistics(), saved: HTTPStatistics()))
    /// Fresh hits that are not in `counts` yet, and the bytes of their bodies. Both are atomic numbers, because a lock and a
    /// hash would take longer than the rest of a fresh hit.
    private let freshHits = Atomic(0)
    private let freshBytes = Atomic(0)

    var statistics: HTTPStatistics { gathered { $0.all } }

    func countFresh(bytes: Int) {
      freshHits.wrappingAdd(1, ordering: .relaxed)
      freshBytes.wrappingAdd(bytes, ordering: .relaxed)
    }

    private func gathered<Result>(
      _ body: (inout (all: HTTPStatistics, saved: HTTPStatistics)) -> sending Result
    ) -> sending Result {
      counts.withLock { counts in
        let hits = freshHits.exchange(0, ordering: .relaxed)
        if hits > 0 { counts.all.hits[.fresh, default: 0] += hits }
        counts.all.bytesSaved += freshBytes.exchange(0, ordering: .relaxed)
        return body(&counts)
      }
    }

    func count(_ result: HTTPCacheResult) { counts.withLock { $0.all.count(result) } }

    func countFailure() { counts.withLock { $0.all.failures += 1 } }

    /// Returns the counts that are not saved yet, and marks these counts as saved.
    func takeUnsaved() -> HTTPStatistics {
      gathered { counts in
        defer { counts.saved = counts.all }
        return counts.all.subtracting(counts.saved)
      }
    }

    /// Marks counts as unsaved again, because the attempt to save these counts failed.
    func restoreUnsaved(_ unsaved: HTTPStatistics) {
      counts.withLock { $0.saved = $0.saved.subtracting(unsaved) }
    }
  }

  extension HTTPStatistics {
    fileprivate mutating func count(_ result: HTTPCacheResult) {
      if let forwarded = result.forwarded {
        forwards[forwarded, default: 0] += 1
        if let reason = result.reason { reuses[reason, default: 0] += 1 }
      } else if let reason = result.reason {
        hits[reason, default: 0] += 1
      }
      if result.isCollapsed { collapsed += 1 }
      if result.reason != nil { bytesSaved += result.body.count ?? 0 }
    }

    fileprivate func subtracting(_ other: HTTPStatistics) -> HTTPStatistics {
      HTTPStatistics(numbers: numbers.merging(other.numbers) { $0 - $1 }.filter { $0.value != 0 })
    }
  }

  /// The form of counts in the store: a text entry in the namespace `http-statistics`. The entry has the name of the cache's
  /// namespace, and a line for each count that is not 0.
  ///
  ///     hit fresh 1200
  ///     forward uri-miss 45
  ///     reuse validated 3
  ///     bytes-saved 5800000
  extension HTTPCache {
    static let statisticsNamespace = "http-statistics"

    /// Adds the counts since the last call to the counts in the store. All processes share the counts in the store, and the
    /// shell's command `stats` shows these counts.
    ///
    /// Nothing else saves the counts: call this method once a minute, for example, and before the process ends.
    public func saveStatistics() async throws {
      let unsaved = counters.takeUnsaved()
      guard unsaved != HTTPStatistics() else { return }
      // An eviction would lose the counts of all processes.
      var attributes = EntryAttributes(codec: .text, expires: .never)
      attributes.isPinned = true
      do {
        _ = try await namespace.store.namespace(Self.statisticsNamespace).update(
          namespace.name, attributes
        ) { old in
          let numbers = HTTPStatistics(text: old ?? []).numbers
          let sums = numbers.merging(unsaved.numbers) { $0.saturatingAdding($1) }
          return Array(HTTPStatistics(numbers: sums).text.utf8)
        }
      } catch {
        counters.restoreUnsaved(unsaved)
        throw error
      }
    }

    /// The counts for this namespace that all processes have saved with ``saveStatistics()``.
    public func savedStatistics() throws -> HTTPStatistics {
      let store = namespace.store.namespace(Self.statisticsNamespace)
      let bytes: [UInt8]? = try store.value(for: namespace.name)
      return HTTPStatistics(text: bytes ?? [])
    }
  }

  extension HTTPStatistics {
    var numbers: [String: Int] {
      var numbers = ["collapsed": collapsed, "failures": failures, "bytes-saved": bytesSaved]
      for (reason, count) in hits { numbers["hit " + reason.rawValue] = count }
      for (reason, count) in reuses { numbers["reuse " + reason.rawValue] = count }
      for (reason, count) in forwards { numbers["forward " + reason.rawValue] = count }
      return numbers.filter { $0.value != 0 }
    }

    /// Makes statistics from counts; unknown names are ignored.
    init(numbers: [String: Int]) {
      self.init()
      for (name, count) in numbers {
        let words = name.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.count == 2 ? words[1] : "") {
        case ("collapsed", ""): collapsed = count
        case ("failures", ""): failures = count
        case ("bytes-saved", ""): bytesSaved = count
        case ("hit", let reason): CacheAnswer.Reason(rawValue: reason).map { hits[$0] = count }
        case ("reuse", let reason): CacheAnswer.Reason(rawValue: reason).map { reuses[$0] = count }
        case ("forward", let reason):
          CacheForward.Reason(rawValue: reason).map { forwards[$0] = count }
        default: break
        }
      }
    }

    /// Reads the counts from the text of an entry; lines that are not counts are ignored.
    init(text: [UInt8]) {
      var numbers: [String: Int] = [:]
      for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
        guard let space = line.lastIndex(of: " "),
          let count = Int(line[line.index(after: space)...]), count >= 0
        else { continue }
        numbers[String(line[..<space])] = count
      }
      self.init(numbers: numbers)
    }

    var text: String {
      numbers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }
  }
#endif
