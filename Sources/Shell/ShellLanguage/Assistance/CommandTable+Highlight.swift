import LarderSystem

/// The colors of a line while a person types. The colors follow the rules by which the shell reads lines.
extension CommandTable {
  package typealias ColoredRun = (range: Range<Int>, color: Color)

  /// The longest line that gets colors. Each key press draws the line again, so coloring must be quick.
  private static let longestColored = 4_096

  /// The colored ranges in order. `open` has the previous lines of the command if a quote is open.
  package func colors(of line: [UInt8], behind open: [UInt8] = []) -> [ColoredRun] {
    guard max(line.count, open.count) <= Self.longestColored else { return [] }
    var lexer = Lexer()
    let scanned = Result { () throws(ShellError) in try lexer.scan(open + line) }
    var runs = lexer.segments.dropLast().flatMap { self.runs(of: $0.words, current: nil) }
    runs += self.runs(of: lexer.words, current: lexer.current)
    if case .failure(let error) = scanned, let wrong = error.range {
      runs.removeAll { $0.range.overlaps(wrong) }
      runs.append((wrong, .error))
    }
    return runs.compactMap { run -> ColoredRun? in
      let start = max(run.range.lowerBound - open.count, 0)
      let end = min(run.range.upperBound - open.count, line.count)
      return start < end ? (start..<end, run.color) : nil
    }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  private func runs(of words: [Word], current: Word?) -> [ColoredRun] {
    let all = words + [current].compactMap(\.self)
    guard let first = all.first else { return [] }
    let command = first.bareText.flatMap(command(named:))
    var runs: [ColoredRun] = []
    if command != nil {
      runs.append((first.range, .command))
    } else if !words.isEmpty || !begins(first, names) {
      runs.append((first.range, .wrong))
    }
    let end = all.dropFirst().firstIndex { $0.bareText == "--" } ?? all.count
    for (index, word) in all.enumerated().dropFirst() {
      let isTyping = current != nil && index == all.count - 1
      let read = index > end ? word.quoted : word
      let color = index == end ? .option : color(of: read, command, isTyping: isTyping)
      if let color { runs.append((word.range, color)) }
    }
    return runs
  }

  private func color(of word: Word, _ command: CommandSpec?, isTyping: Bool) -> Color? {
    if let option = OptionWord(word) {
      guard let command else { return .option }
      if command.option(named: option.spelling) != nil { return .option }
      return isTyping && begins(word, command.options.map(\.name)) ? nil : .wrong
    }
    if word.leads(with: "@") { return .namespace }
    if !word.isBare { return .quoted }
    if word.isGlob, !word.isHexOrBase64 { return .pattern }
    let number = word.leads(with: "+") ? word.dropping(1) : word
    guard number.bytes.first?.isDigit == true else { return nil }
    return (try? number.size()) != nil || (try? number.duration()) != nil ? .number : nil
  }

  private func begins(_ word: Word, _ names: [String]) -> Bool {
    guard let text = word.bareText?.lowercased() else { return false }
    return text == "-" || names.contains { $0.hasPrefix(text) }
  }
}
