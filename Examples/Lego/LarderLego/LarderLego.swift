import ArgumentParser

@main
struct LarderLego: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-lego",
    abstract: "Keeps Lego colours, parts and sets in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such key, 2 usage, 3 the store cannot be opened, 4 the store or the folder failed, \
      5 refused, 130 interrupted.
      """,
    subcommands: [ImportFolder.self, ShowEntity.self, CheckDump.self])

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let failure as Failure {
      failure.exit()
    } catch  where Self.exitCode(for: error).isSuccess {
      Self.exit(withError: error)
    } catch  where Self.exitCode(for: error) == .validationFailure {
      Console.complain(Self.fullMessage(for: error))
      Self.exit(withError: ExitCode(Failure.Code.usage.rawValue))
    } catch {
      Failure(error).exit()
    }
  }
}
