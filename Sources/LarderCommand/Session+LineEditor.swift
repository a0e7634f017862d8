import LarderShell
import LarderTerminal
import ShellLanguage

extension Session {
  /// The candidates of Tab at a byte of a line.
  func completion(of line: [UInt8], cursor: Int) -> Completion {
    let found = Completer(.standard).completion(of: Array(line[..<cursor])) { self.found($0) }
    let candidates = found.candidates.map { candidate in
      Completion.Candidate(
        candidate.text + (candidate.isWhole ? " " : ""), label: candidate.text)
    }
    return Completion(
      from: found.range.lowerBound, candidates, isCut: found.isCut)
  }
}
