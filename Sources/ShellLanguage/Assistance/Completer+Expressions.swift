extension Completer {
  /// The name or path that ends an expression which is being typed.
  ///
  /// Only the tail of the word is replaced, so it may stand within quotes that are still open.
  func completeOperand(
    _ word: Word, _ kind: ValueKind, _ state: ArgumentState, _ find: (Request) -> Found
  ) -> Completion {
    let tail = Array(word.bytes.reversed().prefix { Self.isOfOperand($0) }.reversed())
    let end = word.range.upperBound
    let isOpen = !word.isBare
    // An escape within the tail would not be as long in the line as in the word.
    guard isOpen || word.bytes.count == word.range.count else { return .none(at: end) }
    let range = end - tail.count..<end
    let text = String(decoding: tail, as: UTF8.self)
    var names: [String] = []
    if kind == .path || tail.first == UInt8(ascii: ".") || tail.isEmpty {
      let found = find(.fields(state.namespaces)).names
      names = found.map { "." + String(decoding: $0, as: UTF8.self) }
    }
    if kind == .order { names = Selection.Sort.names + names }
    if kind != .path, tail.first != UInt8(ascii: "."), kind != .order || !tail.isEmpty {
      let facts = QueryName.allCases.map(\.rawValue) + ["header.", "metadata."]
      names += facts.filter { !names.contains($0) }
      names += QueryFunction.allCases.map { "\($0.rawValue)(" }
      if kind == .expression { names += ["and", "or", "not", "exists"] }
    }
    let fitting = names.filter { $0.hasPrefix(text) }
    // A condition has spaces in it, so its quote is opened.
    let lead = word.bytes.isEmpty && !isOpen && kind == .expression ? "'" : ""
    return Completion(
      range: range, candidates: fitting.map { Candidate(text: lead + $0, isWhole: false) },
      isCut: false)
  }

  private static func isOfOperand(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "-")
  }
}

extension Completer.Completion {
  static func none(at end: Int) -> Self { Self(range: end..<end, candidates: [], isCut: false) }
}
