// swift-tools-version: 6.2
import PackageDescription

// A package that depends on Larder names the products that it uses. Outside this repository, such a package gives the
// repository's address in place of the path.
func larder(_ product: String) -> Target.Dependency { .product(name: product, package: "larder") }

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let arguments: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")

/// The dependencies of a library that talks to a service.
let client: [Target.Dependency] = [larder("Larder"), larder("LarderHTTP"), "Service", httpTypes]

/// The dependencies of a program over a library that talks to a service.
let program: [Target.Dependency] = client + ["ExampleProgram", arguments]

/// The dependencies of tests, which run `larder` on the stores that the programs wrote.
let testing: [Target.Dependency] =
  client + [larder("LarderURLSession"), larder("larder"), "ExampleTesting", "TestSupport"]

/// An adapter in a folder of its own: a library, a program over it, such as `larder-lego`, and the tests of both.
func adapter(_ name: String, library: String? = nil) -> [Target] {
  let library = library ?? name
  let command = "larder-" + name.lowercased()
  return [
    .target(name: library, dependencies: client, path: "\(name)/\(library)"),
    .executableTarget(
      name: command, dependencies: program + [.target(name: library)], path: "\(name)/Larder\(name)"
    ),
    .testTarget(
      name: "\(name)Tests",
      dependencies: testing + [.target(name: library), .target(name: command)],
      path: "\(name)/Tests", plugins: ["PagePrograms"]),
  ]
}

/// The targets that the adapters share.
let support: [Target] = [
  .target(
    name: "Service", dependencies: [larder("Larder"), larder("LarderHTTP"), httpTypes],
    path: "Support/Service"),
  .target(
    name: "ExampleProgram", dependencies: client + [larder("LarderCurl"), arguments],
    path: "Support/ExampleProgram"),
  .target(
    name: "ExampleTesting",
    dependencies: client + [
      larder("LarderHTTPTesting"), larder("LarderTesting"), larder("LarderURLSession"),
      "TestSupport",
    ],
    path: "Support/ExampleTesting"),
  .target(name: "TestSupport", dependencies: [larder("Larder")], path: "Support/TestSupport"),
  .testTarget(
    name: "SupportTests", dependencies: testing + ["larder-rates"], path: "Support/Tests"),
]

/// The programs of the front page and of the tutorial, and the smallest adapter.
let programs: [Target] = [
  .executableTarget(name: "quickstart", dependencies: [larder("Larder")], path: "QuickStart"),
  .executableTarget(name: "weather", dependencies: [larder("Larder")], path: "Tutorial"),
  .executableTarget(name: "larder-rates", dependencies: program, path: "Rates"),
]

/// The programs of the pages, which a plugin gives to the tests, and the tests of traits that need third-party packages.
let documents: [Target] = [
  .executableTarget(name: "page-programs", path: "Documents/Generator"),
  .plugin(
    name: "PagePrograms", capability: .buildTool(), dependencies: ["page-programs"],
    path: "Documents/Plugin"),
  .testTarget(
    name: "DocumentTests",
    dependencies: [
      larder("Larder"), larder("LarderCodecs"), larder("LarderCompression"),
      larder("LarderEncryption"), larder("LarderHTTP"), larder("LarderHTTPTesting"),
      larder("LarderMonitoring"), larder("LarderShared"), larder("LarderSharedTesting"),
      larder("LarderTesting"), larder("LarderTracing"), larder("LarderURLSession"),
      larder("larder"), "quickstart", "weather", "TestSupport", httpTypes,
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "Crypto", package: "swift-crypto"),
      .product(name: "InMemoryLogging", package: "swift-log"),
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      .product(name: "Logging", package: "swift-log"),
      .product(name: "MetricsTestKit", package: "swift-metrics"),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ],
    path: "Documents/Tests", plugins: ["PagePrograms"]),
]

let package = Package(
  name: "larder-examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "larder", path: "..",
      traits: [
        "Compression", "Curl", "Encryption", "HTTPTesting", "Logging", "Metrics",
        "ServiceLifecycle", "Tracing",
      ]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: support + programs + documents + adapter("Lego", library: "LegoCache")
    + adapter("Departures") + adapter("Articles") + adapter("Catalog")
)

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

for target in package.targets where target.type != .plugin { target.swiftSettings = strict }
