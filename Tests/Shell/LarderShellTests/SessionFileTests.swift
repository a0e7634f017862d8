import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// The files of a session: command files, and the store, which is closed for a while.
@Suite struct SessionFileTests {
  @Test func `a file that is run knows the values of names`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    try Data("keys @articles :k\n".utf8).write(to: URL(fileURLWithPath: shell.file))
    #expect(try shell.error("source \(shell.file)").code == .undefinedArgument)
    try shell.session.variables.define(bytes("k=000012"), isJSON: false)
    #expect(try shell("source \(shell.file)") == "000012\n")
  }

  @Test func `the first error stays when the store cannot be opened again`() throws {
    struct Failure: Error {}
    for isKnown in [true, false] {
      let shell = try Shell()
      try shell.store.close()
      let failing = { (path: String, _: Store.Options) throws in
        try FileManager.default.removeItem(atPath: path)
        if isKnown { throw ShellError(.io, "the disk failed", hint: nil) }
        throw Failure()
      }
      if isKnown {
        let error = try error { try shell.session.whileClosed(failing) }
        #expect(error.code == .io)
        let message = error.message.description
        #expect(message.hasPrefix("the disk failed; the store cannot be opened again: "))
      } else {
        #expect(throws: Failure.self) { try shell.session.whileClosed(failing) }
        #expect(shell.notices.first?.hasPrefix("note: the store cannot be opened again: ") == true)
      }
    }
  }

  @Test func `a report of a namespace that is gone is an error`() throws {
    let shell = try Shell()
    let error = try error { _ = try StoreReport(of: shell.session, only: "gone") }
    #expect(error.code == .noSuchNamespace)
  }
}
