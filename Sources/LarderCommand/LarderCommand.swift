import LarderSystem
import LarderTerminal

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The program `larder`: explore a store at a prompt, run commands, or be one end of a pipe.
@main enum LarderCommand {
  static let version = "1.0"

  static func main() {
    do {
      // Before any file is opened: it must not become a standard descriptor.
      try StandardDescriptors.claim()
    } catch {
      exit(1)
    }
    Interrupts.install()
    exit(Program.run(Terminal.arguments, environment: ProcessInfo.processInfo.environment))
  }
}
