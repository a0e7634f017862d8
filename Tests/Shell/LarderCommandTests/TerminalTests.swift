import Foundation
import Testing

@testable import LarderTerminal

@Suite struct TerminalTests {
  @Test(arguments: [
    (["LANG": "sv_SE.UTF-8"], true),
    (["LANG": "C.utf8"], true),
    (["LANG": "de_CH.UTF-8@euro"], true),
    (["LANG": "sv_SE.UTF-8", "LC_ALL": "C"], false),
    (["LANG": "C", "LC_CTYPE": "UTF-8"], true),
    (["LANG": "sv_SE.ISO8859-1", "LC_ALL": ""], false),
    (["LANG": "sv_SE"], false),
    ([:], false),
  ])
  func `the locale's name tells whether it is one of UTF-8`(
    environment: [String: String], isUTF8: Bool
  ) {
    #expect(Terminal.speaksUTF8(environment: environment) == isUTF8)
  }

  @Test func `a prompt shows no control characters and ends in something visible`() {
    #expect(Prompt("a\u{1B}\u{1}b\n", tail: "\u{7}").text == "ab ")
    #expect(Prompt("ab").colored(mark: "|") == "|\u{1B}[1;36m|ab|\u{1B}[0m|> ")
    #expect(Prompt("").colored(mark: "|") == "> ")
  }

  @Test func `what signals did before the whole screen was taken they do again`() {
    func action(_ signal: Int32) -> sigaction {
      var action = sigaction()
      _ = unsafe sigaction(signal, nil, &action)
      return action
    }
    func address(_ action: sigaction) -> Int {
      unsafe unsafeBitCast(action.__sigaction_handler, to: Int.self)
    }
    let before = signal(SIGUSR2) { _ in }
    defer { _ = signal(SIGUSR2, before) }
    let own = address(action(SIGUSR2))
    EmergencyExit.arm(restoring: termios())
    // A second call, as after the program was stopped and continued.
    EmergencyExit.arm(restoring: termios())
    #expect(address(action(SIGUSR2)) != own)
    EmergencyExit.disarm()
    #expect(address(action(SIGUSR2)) == own)
  }

  @Test func `a place is where the terminal's cursor would be`() {
    func place(_ text: String) -> [Int] {
      let place = LineDisplay.Place(after: text.unicodeScalars, columns: 10)
      return [place.row, place.column]
    }
    Terminal.useUTF8Characters()
    #expect(place("") == [0, 0])
    #expect(place("123456789") == [0, 9])
    #expect(place("1234567890") == [1, 0])
    #expect(place("12345678\u{65E5}") == [1, 0])
    #expect(place("123456789\u{65E5}") == [1, 2])
    #expect(place("a\nb") == [1, 1])
    #expect(place("a\tb") == [0, 9])
    #expect(place("\u{3}") == [0, 2])
    #expect(place("e\u{301}") == [0, 1])
  }
}
