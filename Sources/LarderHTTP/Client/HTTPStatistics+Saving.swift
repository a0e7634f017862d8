import Larder

/// Counts in the store: an entry of text in the namespace `http-statistics`, under the name of the cache's namespace, with a line
/// for each count that is not 0.
///
///     hit fresh 1200
///     forward uri-miss 45
///     reuse validated 3
///     bytes-saved 5800000
extension HTTPCache {
  static let statisticsNamespace = "http-statistics"

  /// Adds the counts since the last call to those that all processes have saved in the store, which `stats` of the shell shows.
  ///
  /// Nothing else saves them: call it once a minute, say, and before the process ends. `larder-proxy` does.
  public func saveStatistics() async throws {
    let unsaved = counters.takeUnsaved()
    guard unsaved != HTTPStatistics() else { return }
    do {
      _ = try await namespace.store.namespace(Self.statisticsNamespace).update(
        namespace.name, EntryAttributes(codec: .text, expires: .never)
      ) { old in
        let numbers = HTTPStatistics(text: old ?? []).numbers
        let sums = numbers.merging(unsaved.numbers) { $0.saturatingAdding($1) }
        return Array(HTTPStatistics(numbers: sums).text.utf8)
      }
    } catch {
      counters.giveBack(unsaved)
      throw error
    }
  }

  /// The counts that ``saveStatistics()`` of any process has added for this namespace.
  public func savedStatistics() throws -> HTTPStatistics {
    let store = namespace.store.namespace(Self.statisticsNamespace)
    let bytes: [UInt8]? = try store.value(for: namespace.name)
    return HTTPStatistics(text: bytes ?? [])
  }
}

extension HTTPStatistics {
  /// Each count by its name.
  var numbers: [String: Int] {
    var numbers = ["collapsed": collapsed, "failures": failures, "bytes-saved": bytesSaved]
    for (reason, count) in hits { numbers["hit " + reason.rawValue] = count }
    for (reason, count) in reuses { numbers["reuse " + reason.rawValue] = count }
    for (reason, count) in forwards { numbers["forward " + reason.rawValue] = count }
    return numbers.filter { $0.value != 0 }
  }

  /// Names that are not known are left out.
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

  /// Lines that are no counts are left out.
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
