import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Compares `--dry-run` with the change itself.
@Suite struct DryRunTests {
  /// A shell with entries that are pinned, never expire, expire after one and three hours, or have expired.
  private func shell() throws -> Shell {
    let shell = try Shell(.json)
    let namespace = shell.store.namespace("a")
    for (number, expires) in [
      Expiration.never, .after(.hours(1)), .after(.hours(3)), .after(.seconds(1)),
    ].enumerated() {
      var attributes = EntryAttributes(expires: expires)
      attributes.isPinned = number % 2 == 0
      attributes.tags = number == 2 ? ["blue"] : ["red", "dark"]
      try namespace.set(
        [UInt8](repeating: 0, count: 10 << number), for: "k\(number)", attributes)
    }
    shell.clock.advance(by: .seconds(2))
    return shell
  }

  @Test(arguments: [
    "pin @a *", "unpin @a *", "pin @a k0 k1 k2", "pin @a * --expired", "persist @a *",
    "persist @a * --expired", "expire @a * never", "expire @a * 2h --at-least",
    "expire @a * 2h --at-most", "expire @a * +1h", "expire @a k0 +1h", "expire @a * now",
    "expire @a * 2h --expired", "touch @a * --ttl 1h", "touch @a * --ttl 1h --expired",
    "evict @a *", "evict @a * --expired", "purge @a", "clear @a", "invalidate red dark",
    "invalidate @a blue",
  ])
  func `a dry run counts what the change changes`(line: String) throws {
    let shell = try shell()
    let dry = try shell(line + " --dry-run")
    let real = try shell(line + (line.hasPrefix("purge") ? "" : " --yes"))
    #expect(dry.hasPrefix("{\"dry_run\":true,"))
    let fields = dry.replacing("\"dry_run\":true,", with: "")
    if ["touch", "purge"].contains(where: line.hasPrefix) {
      // Only the change itself has the last two fields.
      #expect(real.hasPrefix(fields.dropLast(2)), "\(dry) \(real)")
    } else {
      #expect(fields == real)
    }
    // After the change, nothing is left to change.
    guard !line.contains("+1h"), !line.hasPrefix("touch") else { return }
    #expect(try shell(line + " --dry-run").contains("\"count\":0,\"bytes\":0"), "\(line)")
  }
}
