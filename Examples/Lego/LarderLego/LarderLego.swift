import ArgumentParser

@main
struct LarderLego: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-lego",
    abstract: "Works with Lego colours, parts and sets.",
    subcommands: [CheckDump.self])
}
