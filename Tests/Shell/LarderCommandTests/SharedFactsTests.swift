import Larder
import LarderShared
import LarderSharedTesting
import LarderShell
import TestSupport
import Testing

@testable import LarderCommand
@testable import ShellLanguage

@Suite struct SharedFactsTests {
  private func facts(_ store: Store) throws -> [String: Cell] {
    Dictionary(
      uniqueKeysWithValues: try LarderShell.Host.sharedFacts(of: store).map { ($0.name, $0.cell) })
  }

  @Test func `a tier whose records this program cannot read has no facts`() throws {
    let home = TemporaryDirectory()
    let options = with(Store.Options()) { $0.transforms = [Cipher()] }
    let application = try Store(at: home.store, options: options)
    try application.namespace(Store.tierState).set([1], for: "progress")
    try application.close()
    let store = try Store(at: home.store)
    #expect(try facts(store).isEmpty)
    #expect(try LarderShell.Host.sharedFacts(in: store.namespace("prices")) == nil)
    try store.close()
  }

  @Test func `stats and info show the state, the position and what waits`() async throws {
    let clock = ManualClock(now: Timestamp(milliseconds: 1_795_000_000_000))
    let store = try Store.temporary(options: Store.Options(clock: clock))
    #expect(try facts(store).isEmpty)
    #expect(try LarderShell.Host.sharedFacts(in: store.namespace("prices")) == nil)
    let tier = MemoryTier(application: "shop", clock: clock)
    let link = TierLink(to: tier)
    let cache: SharedCache<String> = store.cache(TextCodec(), in: "prices", shared: Shared(link))
    // A machine keeps copies only after its first contact with the log of the tier, so the test waits for this contact.
    try await waitUntil { try SharedStatus(of: store)?.isConfirmed ?? false }
    try await cache.set("1", for: "a")
    try await waitUntil { try SharedStatus(of: store)?.applied == tier.newest }
    let known = try facts(store)
    #expect(known["shared_application"] == .text("shop"))
    #expect(known["shared_state"] == .text("confirmed"))
    #expect(known["shared_position"] == tier.newest.map { .text($0.description) })
    #expect(known["shared_outbox"] == .number(0))
    #expect(known["shared_namespaces"] == .list([.text("prices")]))
    let entry = try #require(try store.namespace("prices").entry(for: "a"))
    let ofEntry = try #require(try LarderShell.Host.sharedFacts(in: store.namespace("prices")))
    guard case .text(let words)? = ofEntry(entry).first?.cell else {
      return #expect(Bool(false), "an entry of the tier has no fact")
    }
    #expect(words.hasSuffix(", confirmed"))
    link.cut()
    await #expect(throws: LarderError.self) { try await cache.remove("a") }
    #expect(try facts(store)["shared_outbox"] == .number(1))
    // For half an hour nothing reads the log, so the state is no longer confirmed.
    clock.advance(by: .minutes(30))
    guard case .text(let state)? = try facts(store)["shared_state"] else { return }
    #expect(state.hasPrefix("unconfirmed"))
  }
}

@Suite struct ProgramStartTests {
  @Test func `a program that cannot be started is an error of the shell`() {
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 2_000_000)
    #expect(throws: ShellError.self) { _ = try LarderShell.Host.Sink(.program(text, 0..<1), [:]) }
  }
}

@Suite struct SecretCommandTests {
  @Test(arguments: [
    ("set api_token hunter2", true), ("set --ttl 1h api_token hunter2", true),
    ("put @a --if-absent --until monday password x", true), ("set @tokens k v --ttl 1h", true),
    ("set k v --from password.txt", true), ("set k 'a token'", false),
    ("set --ttl 1h @a k 'a token' --if-absent", false), ("set --ttl=1h k token", false),
    ("get api_token", false), ("keys; set secret x", true), ("set db.pwd x", true),
    ("set k v --arg BEARER", true), ("set passphrase x", true), ("set access/7 x", true),
    // Lines with the name of a secret in different spellings, and two lines with words that are only similar.
    ("set api-key x", true), ("set x-api-key x", true), ("set api.key x", true),
    ("set 'api key' x", true), ("set Pass-Word x", true), ("set private_key x", true),
    ("set jwt x", true), ("set my.otp x", true), ("set user/passcode x", true),
    ("set pin-7 x", true), ("set spinner x", false), ("set adopted x", false),
    // Lines with the name of a secret in escapes, hex or Base64. The last hex text has an odd length, so it encodes no bytes.
    (#"set api\x6bey x"#, true), (#"set "to\u{6B}en" x"#, true), ("set hex:6170696B6579 x", true),
    ("set b64:cGFzc3dk x", true), (#"set @"to\x6ben" k x"#, true), ("set hex:6170696B657 x", false),
    // In a mistyped command, any word may be the name of a secret, because the shell cannot tell which word is the value.
    ("sett k token", true), ("'set' k token", true), ("API_TOKEN=x", true), ("kesy @a", false),
    ("set k token x", true), ("set k v w", false),
    // The words of another program are checked, too.
    ("! curl -H 'Authorization: Bearer x' example.org", true), ("keys | mail --password x", true),
    ("! ls", false), ("keys @tokens | wc -l", false), ("use tokens; set k x", true),
  ]) func `the name of a secret is found wherever it stands`(line: String, isSecret: Bool) {
    #expect(SecretCommand.matches(Array(line.utf8)) == isSecret, "\(line)")
  }

  @Test func `a set without a namespace concerns the one in use`() {
    for (line, isSecret) in [("set k x", true), ("set @a k x", false), ("use a; set k x", false)] {
      let isFound = SecretCommand.matches(Array(line.utf8), in: { "passwords" })
      #expect(isFound == isSecret, "\(line)")
    }
  }
}
