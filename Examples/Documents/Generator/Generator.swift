import Foundation

/// Writes the programs of pages as functions, which tests call.
///
///     page-programs ROOT OUTPUT FILE...
///
/// Each block of Swift in a page becomes a function of `Programs`. That type declares the names that programs use without a
/// declaration. The function returns what its program declares. A block that declares only types is not changed. A
/// block that is also in one of the Swift files is compiled there. The imports are those of the first of these files.
@main struct Generator {
  static func main() throws {
    let root = CommandLine.arguments[1]
    let files = try CommandLine.arguments.dropFirst(3).map { path in
      (path: path, text: try String(contentsOfFile: path, encoding: .utf8))
    }
    let sources = files.filter { $0.path.hasSuffix(".swift") }.map(\.text)
    let imports = sources.first?.split(separator: /\n(?:\/\/\/|struct|extension)/).first ?? ""
    let compiled = sources.map(words).joined()
    var (types, functions, list) = ("", "", "")
    for (path, page) in files where path.hasSuffix(".md") {
      let name = path.dropFirst(root.count)
      for block in page.matches(of: /(?s)```swift\n(.*?)```/) {
        let program = String(block.1)
        if compiled.contains(words(program)) { continue }
        let line = page[..<block.1.startIndex].count { $0 == "\n" } + 1
        // `#sourceLocation` makes compiler errors name the place in the page.
        let placed =
          "#sourceLocation(file: \"\(name)\", line: \(line))\n\(program)#sourceLocation()\n"
        let declaresTypesAlone = program.matches(of: /(?:^|\n)([a-z]+)/).allSatisfy {
          ["struct", "final", "enum", "protocol", "extension"].contains($0.1)
        }
        if declaresTypesAlone {
          types += placed
          continue
        }
        let function = "program\(list.count { $0 == "\n" } + 1)"
        // In an `async` function, calls mean their asynchronous form, so a program without `await` gets a plain function.
        let (effect, call) =
          program.contains("await ") ? ("async throws", "try await") : ("throws", "try")
        let declared = program.matches(of: /(?:^|\n)(?:let|var|func) (\w+)/)
          .map { "\"\($0.1)\": \($0.1) as Any" }.joined(separator: ", ")
        functions +=
          "\nfunc \(function)() \(effect) -> [String: Any] {\n\(placed)return [\(declared.isEmpty ? ":" : declared)]\n}\n"
        list += "(\"\(name)\", { \(call) $0.\(function)() }),\n"
      }
    }
    let text = """
      \(imports)
      \(types)
      extension Programs {
      \(functions)
      static var all: [(page: String, run: (Programs) async throws -> [String: Any])] {
      [
      \(list)]
      }
      }
      """
    try text.write(toFile: CommandLine.arguments[2], atomically: true, encoding: .utf8)
  }

  /// The text without blanks: pages and tests have different indents.
  private static func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
